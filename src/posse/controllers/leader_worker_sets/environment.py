"""What the containers of a replica are told about it in their environment."""

from collections.abc import Iterable, Iterator
from typing import Any

from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    NAME,
    SIZE,
    WORKER_INDEX,
    annotations_of,
    labels_of,
)

Json = dict[str, Any]

LEADER_ADDRESS = "LWS_LEADER_ADDRESS"
GROUP_SIZE = "LWS_GROUP_SIZE"
WORKER_INDEX_VARIABLE = "LWS_WORKER_INDEX"


def containers_of(pod: Json) -> Iterator[Json]:
    for name in ("containers", "initContainers"):
        yield from (item for item in pod["spec"].get(name) or () if isinstance(item, dict))


def tell_containers(pod: Json) -> None:
    """Say where the leader is, how big the replica is and which pod of it this is, in front of everything else."""
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
