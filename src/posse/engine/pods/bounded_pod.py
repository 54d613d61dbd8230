"""What counts of a pod that runs on a node and is beyond a limit (see posse.model.limits).

Such a pod is never tried. Where it runs anyway, because another scheduler or its author put it there, its
requests count for resources that are known already, and so do its first host ports and volumes. Its terms
about other pods do not.
"""

from collections.abc import Collection
from itertools import chain, islice

from msgspec.structs import replace

from posse.engine.nodes.resources import CPU, PODS, effective_requests
from posse.model.container import Container, ResourceRequirements
from posse.model.meta import Quantity
from posse.model.pod import Pod, PodSpec

_MAX_PORTS = 1_000
_MAX_VOLUMES = 500


def bounded_pod(pod: Pod, known_resources: Collection[str]) -> Pod:
    spec, wanted = pod.spec, effective_requests(pod)
    requests: dict[str, Quantity] = {
        name: f"{amount}m" if name == CPU else amount
        for name, amount in wanted.items()
        if name in known_resources and name != PODS
    }
    containers = (*spec.init_containers, *spec.containers)
    ports = tuple(islice(chain.from_iterable(each.ports for each in containers), _MAX_PORTS))
    container = Container(ports=ports, resources=ResourceRequirements(requests=requests))
    bounded = PodSpec(
        containers=(container,),
        volumes=spec.volumes[:_MAX_VOLUMES],
        node_name=spec.node_name,
        scheduler_name=spec.scheduler_name,
        priority=spec.priority,
    )
    labels = dict(islice(pod.metadata.labels.items(), _MAX_PORTS))
    return replace(pod, spec=bounded, metadata=replace(pod.metadata, labels=labels))
