"""Options of an installation."""

from dataclasses import dataclass
from enum import StrEnum

from posse.kinds.discovered import ClusterForm
from posse.version import VERSION

NAME = "posse"
"""Name of objects that exist once."""
DEFAULT_IMAGE = f"posse:{VERSION}"
SYSTEM_NAMESPACE = "kube-system"
DEFAULT_NAMESPACE = SYSTEM_NAMESPACE
DEFAULT_SCHEDULER_NAME = "posse"


class ForeignGroupApi(StrEnum):
    """PodGroups of other projects that Posse can schedule. Values are what the command line calls them."""

    COSCHEDULING = "coscheduling"
    VOLCANO = "volcano"


@dataclass(frozen=True, slots=True)
class InstallOptions:
    form: ClusterForm = ClusterForm.CRD
    image: str = DEFAULT_IMAGE
    namespace: str = DEFAULT_NAMESPACE
    scheduler_name: str = DEFAULT_SCHEDULER_NAME
    monitoring: bool = False
    # What it controls besides scheduling pods, by the plurals of the kinds.
    controllers: tuple[str, ...] = ()
    # Permissions for these are given only where they are used.
    foreign_groups: tuple[ForeignGroupApi, ...] = ()
    volumes: bool = True
    page: bool = False
    provisioning_requests: bool = False

    def in_the_cluster(self, name: str) -> str:
        """Name of a cluster-wide object, unique per namespace; names of namespaces have no colons."""
        return name if self.namespace == DEFAULT_NAMESPACE else f"{name}:{self.namespace}"

    @property
    def custom_groups(self) -> bool:
        """Groups of LeaderWorkerSets, and of what others control, are custom resources everywhere: pods that
        are there can be labelled.
        """
        return self.form is ClusterForm.CRD or bool(self.controllers)
