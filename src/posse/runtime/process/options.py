"""Options of the cluster of `posse up`; separate from it, so that reading them loads little."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from posse.kubelet.nodes import Level
from posse.model.feature_gates import ALL_GATES, Gates

KUBECONFIG_NAME = "kubeconfig"
DEFAULT_EXACT_SEARCH = 10.0
DEFAULT_RECORD_MAX = 1 << 30
"""Bytes of a recording before its oldest part is removed."""


class ControlPlaneMode(StrEnum):
    """What serves the API: Posse itself, or the programs of Kubernetes."""

    EMBEDDED = "embedded"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """`node_count` None: keep the nodes there are, or the default number in a new cluster."""

    data_dir: Path
    port: int
    node_count: int | None = None
    topology: tuple[Level, ...] = ()
    devices: tuple[str, ...] = ()
    """Names of the sets of devices that simulated nodes have."""
    autoscale_seconds: float | None = None
    """After so long, nodes that would let a waiting group start are added; None: they are not."""
    # Where to write the kubeconfig besides the data directory.
    extra_kubeconfig: Path | None = None
    # A KubeSchedulerConfiguration.
    config: Path | None = None
    gates: Gates = ALL_GATES
    # What an exact search may take, in about seconds of one core; 0 if none is to be made.
    exact_search: float = DEFAULT_EXACT_SEARCH

    record: Path | None = None
    """The directory to record to, if any."""
    record_max: int = DEFAULT_RECORD_MAX

    fsync: bool = True
    """A write is answered when it is on disk, and not only handed to the operating system."""

    control_plane: ControlPlaneMode = ControlPlaneMode.EMBEDDED
    binaries: Path | None = None
    """The folder of the programs of Kubernetes; None for those that are built."""

    has_page: bool = True
    """Whether a page for the browser is served."""

    @property
    def kubeconfig(self) -> Path:
        """The one to tell people about."""
        return self.extra_kubeconfig or self.data_dir / KUBECONFIG_NAME
