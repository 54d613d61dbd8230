"""All objects of an installation, in the order in which they are best created."""

from posse.installation.crds import definitions
from posse.installation.deployment import running
from posse.installation.monitoring import monitoring
from posse.installation.namespace import namespace
from posse.installation.options import InstallOptions
from posse.installation.roles import identity, roles_of_people
from posse.kinds.discovered import ClusterForm
from posse.kinds.kind import Json


def objects(options: InstallOptions) -> list[Json]:
    return [
        *(groups() if options.form is ClusterForm.CRD else []),
        *scheduler(options),
        *(monitoring(options) if options.monitoring else []),
    ]


def groups() -> list[Json]:
    """What a cluster needs that has no groups of its own."""
    return [*definitions(), *roles_of_people()]


def scheduler(options: InstallOptions) -> list[Json]:
    return [*namespace(options), *identity(options), *running(options)]
