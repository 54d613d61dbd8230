"""Ports of nodes that Services ask for or are given. Nothing listens on them: no proxy runs here."""

from collections.abc import Iterable, Sequence

from posse.kinds.machinery.errors import FieldError, Nameable, internal, invalid
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json
from posse.model.service import Service

NODE_PORTS = range(30000, 32768)
OPEN_TYPES = ("NodePort", "LoadBalancer")
# Fields that only Services with ports of nodes have.
OF_OPEN_TYPES = ("externalTrafficPolicy", "allocateLoadBalancerNodePorts")


def assign_node_ports(kind: Nameable, obj: Json, others: Iterable[Json], *, is_new: bool) -> None:
    """Give each port of a Service one of the nodes: the one it asks for, or a free one.

    Ports of a new Service that have one number, such as 53 of TCP and UDP, share theirs. A load balancer may
    do without those that it does not ask for. Raises ApiError if what is asked for is taken, outside of the
    range, or asked for twice.
    """
    spec = section(obj, "spec")
    if spec.get("type") not in OPEN_TYPES:
        return
    metadata = section(obj, "metadata")
    place = metadata.get("namespace"), metadata.get("name")
    taken = {port for other in others for port in _ports_of(other, place)}
    ports = entries(spec, "ports")
    errors = [*_refusals(ports, taken), *_duplicates(ports)]
    if errors:
        raise invalid(kind, str(metadata.get("name") or ""), errors)
    if spec.get("allocateLoadBalancerNodePorts") is False:
        return
    taken.update(port["nodePort"] for port in ports if port.get("nodePort"))
    for port in ports:
        if not port.get("nodePort"):
            port["nodePort"] = (is_new and _shared(port, ports)) or _free(taken)
            taken.add(port["nodePort"])


def keep_node_ports(new: Json, old: Json) -> None:
    """Ports that an update does not number keep theirs; a Service that becomes internal loses all."""
    before, after = section(old, "spec"), section(new, "spec")
    kept = {_identity(port): port.get("nodePort") for port in entries(before, "ports")}
    is_open = after.get("type") in OPEN_TYPES
    asked = [port.get("nodePort") for port in entries(after, "ports")]
    for port in entries(after, "ports"):
        given = kept.get(_identity(port))
        if is_open and given and given not in asked and not port.get("nodePort"):
            port["nodePort"] = given
        elif not is_open and given and port.get("nodePort") == given:
            del port["nodePort"]
    if not is_open:
        for name in OF_OPEN_TYPES:
            if name in after and after[name] == before.get(name):
                del after[name]


def _identity(port: Json) -> tuple[object, object]:
    return port.get("protocol"), port.get("port")


def _ports_of(service: Json, but: tuple[object, object]) -> Iterable[int]:
    metadata = section(service, "metadata")
    if (metadata.get("namespace"), metadata.get("name")) == but:
        return ()
    return [port["nodePort"] for port in entries(section(service, "spec"), "ports") if port.get("nodePort")]


def _refusals(ports: Sequence[Json], taken: set[int]) -> Iterable[FieldError]:
    for index, port in enumerate(ports):
        asked = port.get("nodePort")
        if not asked:
            continue
        if asked in taken:
            problem = "provided port is already allocated"
        elif asked not in NODE_PORTS:
            valid = f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
            problem = f"provided port is not in the valid range. The range of valid ports is {valid}"
        else:
            continue
        yield FieldError.invalid(f"spec.ports[{index}].nodePort", asked, problem)


def _duplicates(ports: Sequence[Json]) -> Iterable[FieldError]:
    """One port of the nodes may serve a Service once per protocol."""
    seen = set()
    for index, port in enumerate(ports):
        asked = port.get("protocol"), port.get("nodePort")
        if port.get("nodePort") and asked in seen:
            yield FieldError.duplicate(f"spec.ports[{index}].nodePort", port["nodePort"])
        seen.add(asked)


def _shared(port: Json, ports: Sequence[Json]) -> int:
    """The one of another protocol with the same number; 0 if there is none."""
    used = {each.get("nodePort") for each in ports if each.get("protocol") == port.get("protocol")}
    alike = (each.get("nodePort") or 0 for each in ports if each.get("port") == port.get("port"))
    return next((found for found in alike if found and found not in used), 0)


def internal_port_errors(service: Service) -> list[FieldError]:
    """A Service that is not reached from outside asks for no port of the nodes."""
    if service.spec.type != "ClusterIP":
        return []
    text = "may not be used when `type` is 'ClusterIP'"
    return [
        FieldError.forbidden(f"spec.ports[{index}].nodePort", text)
        for index, port in enumerate(service.spec.ports)
        if port.node_port
    ]


def _free(taken: set[int]) -> int:
    for port in NODE_PORTS:
        if port not in taken:
            return port
    raise internal("failed to allocate a nodePort: range is full")
