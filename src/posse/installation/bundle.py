"""All objects of an installation, in the order of creation."""

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
    """CRDs and roles for clusters that do not serve PodGroups of scheduling.k8s.io."""
    return [*definitions(), *roles_of_people("groups", POSSE_KINDS)]


def scheduler(options: InstallOptions) -> list[Json]:
    return [*namespace(options), *identity(options), *running(options)]
