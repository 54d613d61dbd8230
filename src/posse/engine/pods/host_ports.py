"""Host ports a pod claims on its node. Two claims clash on equal protocol and port unless their addresses differ."""

from dataclasses import dataclass

from posse.model.pod import Pod

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - Kubernetes' way to say "every address of the node"


@dataclass(frozen=True, slots=True)
class HostPort:
    """The trait of a pod that has this port of its node."""

    address: str
    protocol: str
    port: int

    def clashes(self, other: "HostPort") -> bool:
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return self.address == other.address or _ANY_ADDRESS in {self.address, other.address}


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Ports of containers and of sidecars; an ordinary init container is gone before anybody could mind."""
    running = [c for c in pod.spec.init_containers if c.restart_policy == "Always"] + list(
        pod.spec.containers
    )
    claimed = {
        HostPort(port.host_ip or _ANY_ADDRESS, port.protocol or "TCP", port.host_port): None
        for container in running
        for port in container.ports
        if port.host_port > 0
    }
    return tuple(claimed)
