"""Environment variables of pods of a LeaderWorkerSet: leader address, size, index, and hosts of TPU
containers.

The hosts of a pod are the pods of its subgroup, or of its replica where there are no subgroups. A leader
without TPUs is no host.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    LEADER_REQUESTS_TPUS,
    NAME,
    SIZE,
    SUBGROUP_INDEX,
    SUBGROUP_POLICY_TYPE,
    SUBGROUP_SIZE,
    WORKER_INDEX,
    annotations_of,
    is_leader,
    labels_of,
    number,
    ordinal_of,
)
from posse.model.leader_worker_set import LEADER_EXCLUDED

Json = dict[str, Any]

LEADER_ADDRESS = "LWS_LEADER_ADDRESS"
GROUP_SIZE = "LWS_GROUP_SIZE"
WORKER_INDEX_VARIABLE = "LWS_WORKER_INDEX"
TPU_RESOURCE = "google.com/tpu"
FIRST_PORT = 8476
# Containers whose author has set one of these are left as they are.
TPU_HOST_VARIABLES = ("TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID")


def containers_of(pod: Json) -> Iterator[Json]:
    for name in ("containers", "initContainers"):
        yield from (item for item in pod["spec"].get(name) or () if isinstance(item, dict))


def set_replica_variables(pod: Json) -> None:
    """Put leader address, replica size and pod index before all other variables."""
    labels, metadata = labels_of(pod), pod["metadata"]
    leader = f"{labels[NAME]}-{labels[GROUP_INDEX]}"
    address = f"{leader}.{pod['spec'].get('subdomain') or labels[NAME]}.{metadata['namespace']}"
    values = {
        LEADER_ADDRESS: address,
        GROUP_SIZE: annotations_of(pod)[SIZE],
        WORKER_INDEX_VARIABLE: labels[WORKER_INDEX],
    }
    set_variables(containers_of(pod), values)


def set_variables(containers: Iterable[Json], values: dict[str, str]) -> None:
    for container in containers:
        others = [item for item in container.get("env") or () if item.get("name") not in values]
        container["env"] = [*({"name": name, "value": text} for name, text in values.items()), *others]


def leader_subgroup(policy_type: str) -> int | None:
    """The leader is in the first one, or in none."""
    return None if policy_type == LEADER_EXCLUDED else 0


def worker_subgroup(size: int, subgroup_size: int, worker: int) -> int:
    """Where only the workers can be divided evenly, the first subgroup has the leader as well."""
    is_leader_extra = (size - 1) % subgroup_size == 0 and size % subgroup_size != 0
    return (worker - 1 if is_leader_extra else worker) // subgroup_size


def requests_tpus(pod: Json) -> bool:
    return any(_asks(container) for container in containers_of(pod))


def set_tpu_variables(pod: Json) -> None:
    containers = [container for container in containers_of(pod) if _asks(container)]
    if not containers or any(_has_hosts(container) for container in containers):
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


def _has_hosts(container: Json) -> bool:
    return any(item.get("name") in TPU_HOST_VARIABLES for item in container.get("env") or ())
