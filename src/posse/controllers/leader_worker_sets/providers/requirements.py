"""What all pods of a replica request together, from their templates."""

from msgspec.structs import replace

from posse.engine.nodes.resources import CPU, PODS, Amounts, effective_requests
from posse.model.container import Container, ResourceRequirements
from posse.model.leader_worker_set import LeaderWorkerSetSpec
from posse.model.pod import Pod, PodSpec, PodTemplateSpec

BINARY = ("ephemeral-storage", "hugepages-", "memory")
BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi")


def replica_requests(spec: LeaderWorkerSetSpec) -> dict[str, str]:
    """Return the requests of one leader and all workers, as quantities."""
    template = spec.leader_worker_template
    leader, worker = pod_requests(template.leader), pod_requests(template.worker_template)
    workers = template.group_size - 1
    names = dict.fromkeys((*leader, *worker))
    total = {name: leader.get(name, 0) + workers * worker.get(name, 0) for name in names}
    return as_quantities({name: amount for name, amount in total.items() if amount})


def pod_requests(template: PodTemplateSpec) -> Amounts:
    needed = effective_requests(Pod(spec=_as_created(template.spec)))
    return {name: amount for name, amount in needed.items() if name != PODS}


def _as_created(spec: PodSpec) -> PodSpec:
    """A limit without a request is the request; templates do not have this default yet."""
    return replace(
        spec,
        containers=tuple(map(_with_requests, spec.containers)),
        init_containers=tuple(map(_with_requests, spec.init_containers)),
        resources=_filled(spec.resources) if spec.resources is not None else None,
    )


def _with_requests(container: Container) -> Container:
    return replace(container, resources=_filled(container.resources))


def _filled(resources: ResourceRequirements) -> ResourceRequirements:
    return replace(resources, requests={**resources.limits, **resources.requests})


def as_quantities(amounts: Amounts) -> dict[str, str]:
    return {name: _quantity(name, amount) for name, amount in sorted(amounts.items())}


def _quantity(resource: str, amount: int) -> str:
    if resource == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if not resource.startswith(BINARY):
        return str(amount)
    power = 0
    while amount and amount % 1024 == 0 and power + 1 < len(BINARY_SUFFIXES):
        amount, power = amount // 1024, power + 1
    return f"{amount}{BINARY_SUFFIXES[power]}"
