"""The projects that Posse is tested with, and how their controllers are configured there."""

from tools.neighbours.assets import JOB_SET, KUEUE, LEADER_WORKER_SET
from tools.neighbours.neighbour import Project

# What it serves on demand would need a way from the API server to it.
KUEUE_PROJECT = Project(
    KUEUE,
    "config.kueue.x-k8s.io/v1beta2",
    {"integrations": {"frameworks": ["batch/job"]}},
    ("--feature-gates=VisibilityOnDemand=false",),
    certificates_at="/etc/kueue/metrics/certs",
)
JOB_SET_PROJECT = Project(JOB_SET, "config.jobset.x-k8s.io/v1alpha1", {})
LEADER_WORKER_SET_PROJECT = Project(LEADER_WORKER_SET, "config.lws.x-k8s.io/v1alpha1", {})
