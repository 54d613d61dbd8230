"""What containers that ask for TPUs are told: which hosts work together, and which of them this one is.

The hosts of a pod are those of its subgroup, or of its whole replica where there are none. A leader without TPUs is no host.
"""

from typing import Any

from posse.controllers.leader_worker_sets.environment import containers_of, set_variables
from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    LEADER_REQUESTS_TPUS,
    NAME,
    SIZE,
    SUBGROUP_INDEX,
    SUBGROUP_POLICY_TYPE,
    SUBGROUP_SIZE,
    annotations_of,
    is_leader,
    labels_of,
    number,
    ordinal_of,
)
from posse.controllers.leader_worker_sets.subgroups import leader_subgroup, worker_subgroup

Json = dict[str, Any]

TPU_RESOURCE = "google.com/tpu"
FIRST_PORT = 8476
# A container that knows one of these has been told by its author.
TOLD_ALREADY = ("TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID")


def requests_tpus(pod: Json) -> bool:
    return any(_asks(container) for container in containers_of(pod))


def tell_about_tpus(pod: Json) -> None:
    containers = [container for container in containers_of(pod) if _asks(container)]
    if not containers or any(_is_told(container) for container in containers):
        return
    hosts = _hosts(pod)
    own = 0 if is_leader(pod) else ordinal_of(pod["metadata"]["name"]) or 0
    labels = labels_of(pod)
    subdomain = pod["spec"].get("subdomain") or labels[NAME]
    leader = f"{labels[NAME]}-{labels[GROUP_INDEX]}"
    names = [f"{leader}.{subdomain}" if host == 0 else f"{leader}-{host}.{subdomain}" for host in hosts]
    for offset, container in enumerate(containers):
        port = str(FIRST_PORT + offset)
        values = {
            "TPU_WORKER_HOSTNAMES": ",".join(names),
            "TPU_WORKER_ID": str(hosts.index(own)),
            "TPU_NAME": leader,
            "TPU_PROCESS_ADDRESSES": ",".join(f"{name}:{port}" for name in names),
            "TPU_PROCESS_PORT": port,
        }
        set_variables([container], values)


def _hosts(pod: Json) -> list[int]:
    """Return the numbers of the pods that work together with this one, itself included."""
    annotations = annotations_of(pod)
    size, part = number(annotations[SIZE]) or 1, number(annotations.get(SUBGROUP_SIZE))
    has_leader = is_leader(pod) or annotations.get(LEADER_REQUESTS_TPUS) == "true"
    hosts = list(range(0 if has_leader else 1, size))
    if not part or SUBGROUP_INDEX not in labels_of(pod):
        return hosts
    own, policy = number(labels_of(pod)[SUBGROUP_INDEX]), annotations.get(SUBGROUP_POLICY_TYPE, "")
    return [
        host
        for host in hosts
        if (worker_subgroup(size, part, host) if host else leader_subgroup(policy)) == own
    ]


def _asks(container: Json) -> bool:
    resources = container.get("resources") or {}
    return any(TPU_RESOURCE in (resources.get(part) or {}) for part in ("limits", "requests"))


def _is_told(container: Json) -> bool:
    return any(item.get("name") in TOLD_ALREADY for item in container.get("env") or ())
