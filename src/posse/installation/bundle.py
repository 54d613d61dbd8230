"""All objects of an installation, in the order of creation."""

from posse.installation.crds import POSSE_KINDS, definitions
from posse.installation.deployment import configuration, running
from posse.installation.monitoring import monitoring
from posse.installation.namespace import namespace
from posse.installation.network_policy import network_policy
from posse.installation.options import InstallOptions
from posse.installation.page import page
from posse.installation.permissions import permissions_to_lead
from posse.installation.programs import programs
from posse.installation.roles import identity, roles_of_people
from posse.installation.set_definitions import set_definitions, sets
from posse.kinds.machinery.kind import Json


def objects(options: InstallOptions) -> list[Json]:
    return [
        *(groups() if options.custom_groups else []),
        *set_definitions(options.controllers),
        *(roles_of_people("sets", sets(options.controllers)) if options.controllers else []),
        *what_runs(options),
        *(page(options) if options.page else []),
        *(monitoring(options) if options.monitoring else []),
    ]


def groups() -> list[Json]:
    """CRDs and roles for clusters that do not serve PodGroups of scheduling.k8s.io."""
    return [*definitions(), *roles_of_people("groups", POSSE_KINDS)]


def what_runs(options: InstallOptions) -> list[Json]:
    """The scheduler and, if there are any, the controllers."""
    found = [*namespace(options), configuration(options)]
    for program in programs(options):
        found += [
            *identity(options, program.name, program.permissions, permissions_to_lead(program.lease)),
            network_policy(options, program.name, program.pod_labels),
            *running(options, program),
        ]
    return found
