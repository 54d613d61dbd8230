"""Arguments of the programs of a control plane on loopback."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from posse.apiserver.http.certificates import Certificates
from posse.control_plane.assets import NATIVE, Release
from posse.control_plane.users import User

# Both wait for a kubelet or a controller: a token for each pod, a node that is ready.
_ADMISSION_OF_KUBELETS = "ServiceAccount,TaintNodesByCondition"
# They would find every node dead where no kubelet reports for any.
_CONTROLLERS_OF_KUBELETS = ("node-lifecycle-controller", "taint-eviction-controller")


@dataclass(frozen=True, slots=True)
class PlaneOptions:
    release: Release = NATIVE
    binaries: Path | None = None
    """The folder of the programs; None for those of KUBEBUILDER_ASSETS, or those that were built."""
    port: int = 0
    """Of the API server; 0 takes any free port."""
    fsync: bool = False
    """etcd answers a write when it is on disk. Without, a crash of the machine may lose data."""
    has_kubelets: bool = False
    """Nodes report, be they simulated; else they are only objects, and bound pods do not run."""
    kubelet_port: int = 0
    """Where something on this machine answers for the kubelets of all nodes; 0 if nothing does."""
    administrator: User | None = None
    """None for one with a new token."""
    switched_off: frozenset[str] = frozenset()
    """Feature gates of the release that are not enabled."""

    @property
    def gates(self) -> list[str]:
        names = [name for name in self.release.gates if name not in self.switched_off]
        return [f"--feature-gates={name}=true" for name in names]

    @property
    def controllers(self) -> str:
        off = () if self.has_kubelets else _CONTROLLERS_OF_KUBELETS
        return ",".join(["*", *(f"-{name}" for name in off)])


def etcd_arguments(data: Path, client_port: int, peer_port: int, *, fsync: bool) -> list[str]:
    clients, peers = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    return [
        "--name=plane",
        f"--data-dir={data}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=plane={peers}",
        *([] if fsync else ["--unsafe-no-fsync"]),
        "--log-level=warn",
    ]


def apiserver_arguments(
    options: PlaneOptions, certificates: Certificates, tokens: Path, port: int, etcd_port: int
) -> list[str]:
    admission = [] if options.has_kubelets else [f"--disable-admission-plugins={_ADMISSION_OF_KUBELETS}"]
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        # An address of documentation: it is only advertised, and loopback would be refused.
        "--advertise-address=192.0.2.1",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.96.0.0/16",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        "--profiling=false",
        # Nothing runs, and what operators install often asks for it.
        "--allow-privileged=true",
        *admission,
        *_key_arguments(certificates),
        *_kubelet_arguments(options.kubelet_port),
        *(f"--runtime-config={api}=true" for api in options.release.apis),
        *options.gates,
    ]


def _kubelet_arguments(port: int) -> list[str]:
    """Nodes name the host. The port is new at each start, so it is not for them to report."""
    return [f"--kubelet-port={port}", "--kubelet-preferred-address-types=InternalDNS"] if port else []


def _key_arguments(certificates: Certificates) -> list[str]:
    """Return the arguments for keys; one key signs the tokens of service accounts."""
    return [
        f"--tls-cert-file={certificates.server_certificate}",
        f"--tls-private-key-file={certificates.server_key}",
        f"--service-account-key-file={certificates.server_certificate}",
        f"--service-account-signing-key-file={certificates.server_key}",
        "--service-account-issuer=https://kubernetes.default.svc",
    ]


def controller_manager_arguments(
    options: PlaneOptions, certificates: Certificates, kubeconfig: Path
) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--service-account-private-key-file={certificates.server_key}",
        f"--root-ca-file={certificates.server_certificate.with_name('ca.crt')}",
        f"--controllers={options.controllers}",
        *options.gates,
    ]


def scheduler_configuration(kubeconfig: Path) -> dict[str, object]:
    """Return a configuration of kube-scheduler without leader election and without client rate limits."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000},
        "leaderElection": {"leaderElect": False},
    }


def scheduler_arguments(options: PlaneOptions, configuration: Path) -> Sequence[str]:
    return [f"--config={configuration}", "--secure-port=0", *options.gates]
