"""Options of an installation."""

from dataclasses import dataclass

from posse.kinds.discovered import ClusterForm
from posse.version import VERSION

NAME = "posse"
"""Name of objects that exist once."""
DEFAULT_IMAGE = f"posse:{VERSION}"
SYSTEM_NAMESPACE = "kube-system"
DEFAULT_NAMESPACE = SYSTEM_NAMESPACE
DEFAULT_SCHEDULER_NAME = "posse"


@dataclass(frozen=True, slots=True)
class InstallOptions:
    form: ClusterForm = ClusterForm.CRD
    image: str = DEFAULT_IMAGE
    namespace: str = DEFAULT_NAMESPACE
    scheduler_name: str = DEFAULT_SCHEDULER_NAME
    monitoring: bool = False
    # What it controls besides scheduling pods, by the plurals of the kinds.
    controllers: tuple[str, ...] = ()

    @property
    def cluster_wide_name(self) -> str:
        """Name of cluster-wide objects, unique per namespace; names of namespaces have no colons."""
        return NAME if self.namespace == DEFAULT_NAMESPACE else f"{NAME}:{self.namespace}"
