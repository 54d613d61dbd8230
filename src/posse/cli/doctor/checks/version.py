"""Which Kubernetes it is, and which of its feature gates are off that groups need."""

import re
from collections.abc import Iterator

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error, note, warning
from posse.model.workload import GATED_GROUP_FIELDS

OLDEST_MINOR = 28
"""The APIs that Posse needs exist since then."""
TESTED_MINORS = (33, 37)
_VERSION = re.compile(r"v?1\.(\d+)")
_API_GATES = (
    "GenericWorkload",
    "GangScheduling",
    *dict.fromkeys(gate for needed in GATED_GROUP_FIELDS.values() for gate in needed),
)


def check_version(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    version = facts.version or ""
    found = _VERSION.match(version)
    if found is None:
        yield warning(
            f"the version of Kubernetes is {version or 'not told'}, which cannot be read",
            "compare it with the releases in docs/guides/install.md",
        )
        return
    minor = int(found.group(1))
    tested = " and ".join(f"1.{one}" for one in TESTED_MINORS)
    if minor < OLDEST_MINOR:
        yield error(
            f"Kubernetes {version} is older than 1.{OLDEST_MINOR}, and lacks APIs that Posse needs",
            f"upgrade the cluster to 1.{OLDEST_MINOR} or later; Posse is tested on {tested}",
        )
    elif minor not in TESTED_MINORS:
        yield note(
            f"Kubernetes {version} is not tested; Posse is tested on {tested}",
            "try it beside the other scheduler first: `posse run --dry-run` writes nothing",
        )


def check_gates(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    """Fields of a gate that is off are dropped by the API server without a word."""
    gates = facts.cluster_gates or {}
    off = [name for name in map(str, _API_GATES) if gates.get(name) is False]
    if not off:
        return
    served = any(api.group == "scheduling.k8s.io" and api.versions for api in facts.apis or ())
    if served:
        lost = [gate for gate in off if gate in set(map(str, facts.gates))]
        if lost:
            yield warning(
                f"feature gates of kube-apiserver that are off: {', '.join(lost)}; it drops their fields",
                "switch them on in kube-apiserver, or off in Posse (--feature-gates), so that both agree",
            )
        return
    yield note(
        f"kube-apiserver serves no PodGroups of its own: {', '.join(off)} are off",
        "use PodGroups of scheduling.posse.dev, which `posse install` brings, or switch the gates on",
    )
