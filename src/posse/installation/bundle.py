"""All objects of an installation, in the order in which they are best created."""

from posse.installation.crds import POSSE_KINDS, definitions
from posse.installation.deployment import running
from posse.installation.monitoring import monitoring
from posse.installation.namespace import namespace
from posse.installation.options import InstallOptions
from posse.installation.roles import identity, roles_of_people
from posse.installation.set_definitions import set_definitions, sets
from posse.kinds.discovered import ClusterForm
from posse.kinds.machinery.kind import Json


def objects(options: InstallOptions) -> list[Json]:
    # Groups of LeaderWorkerSets, and of what others control, are custom resources everywhere: pods that are
    # there can be labelled.
    needs_groups = options.form is ClusterForm.CRD or bool(options.controllers)
    return [
        *(groups() if needs_groups else []),
        *set_definitions(options.controllers),
        *(roles_of_people("sets", sets(options.controllers)) if options.controllers else []),
        *scheduler(options),
        *(monitoring(options) if options.monitoring else []),
    ]


def groups() -> list[Json]:
    """What a cluster needs that has no groups of its own."""
    return [*definitions(), *roles_of_people("groups", POSSE_KINDS)]


def scheduler(options: InstallOptions) -> list[Json]:
    return [*namespace(options), *identity(options), *running(options)]
