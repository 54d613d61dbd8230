"""What the embedded server adds to new pods where JobSet and LeaderWorkerSet have webhooks."""

from typing import Any

from posse.controllers.jobsets.pod_admission import mark_priority
from posse.controllers.leader_worker_sets.pod_admission import admit_pod
from posse.kinds.admission import ClusterView

Json = dict[str, Any]


def complete_new_pod(pod: Json, cluster: ClusterView) -> None:
    """Complete a pod in place, or raise ApiError."""
    admit_pod(pod, cluster)
    mark_priority(pod)
