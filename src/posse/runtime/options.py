"""What can be chosen about an embedded cluster. Apart from the cluster itself, so that asking costs no loading."""

from dataclasses import dataclass
from pathlib import Path

from posse.kubelet.nodes import Level
from posse.model.feature_gates import ALL_GATES, Gates

KUBECONFIG_NAME = "kubeconfig"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """`node_count` None: keep the nodes there are, or the default number in a new cluster."""

    data_dir: Path
    port: int
    node_count: int | None = None
    topology: tuple[Level, ...] = ()
    # Where to write the kubeconfig besides the data directory.
    extra_kubeconfig: Path | None = None
    # A KubeSchedulerConfiguration.
    config: Path | None = None
    gates: Gates = ALL_GATES

    @property
    def kubeconfig(self) -> Path:
        """The one to tell people about."""
        return self.extra_kubeconfig or self.data_dir / KUBECONFIG_NAME
