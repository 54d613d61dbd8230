"""What can be chosen about an installation."""

from dataclasses import dataclass

from posse.kinds.discovered import ClusterForm
from posse.version import VERSION

NAME = "posse"
"""Of every object that there is one of."""
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
        """Of what is in no namespace, so that installations in several do not share it. Namespaces have no
        colons.
        """
        return NAME if self.namespace == DEFAULT_NAMESPACE else f"{NAME}:{self.namespace}"
