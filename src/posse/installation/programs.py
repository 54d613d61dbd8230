"""The programs of an installation: the scheduler, and apart from it the controllers if there are any.

Each has a ServiceAccount with its own permissions, a lease and a Deployment, all of the program's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from posse.installation.control_permissions import CONTROL_LEASE, permissions_to_control
from posse.installation.objects import NAME_LABEL
from posse.installation.options import NAME, InstallOptions
from posse.installation.permissions import LEASE, Permission, permissions_to_schedule

CONTROLLERS = f"{NAME}-controllers"


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    name: str
    container: str
    arguments: tuple[str, ...]
    lease: str
    permissions: Sequence[Permission]

    @property
    def pod_labels(self) -> dict[str, str]:
        return {NAME_LABEL: self.name}


def scheduler_program(options: InstallOptions) -> InstalledProgram:
    arguments: tuple[str, ...] = () if options.volumes else ("--without-volumes",)
    arguments += ("--provisioning-requests",) if options.provisioning_requests else ()
    return InstalledProgram(NAME, "scheduler", arguments, LEASE, permissions_to_schedule(options))


def programs(options: InstallOptions) -> list[InstalledProgram]:
    found = [scheduler_program(options)]
    if options.controllers:
        arguments = ("--only-controllers", f"--controllers={','.join(options.controllers)}")
        permissions = permissions_to_control(options)
        found.append(InstalledProgram(CONTROLLERS, "controllers", arguments, CONTROL_LEASE, permissions))
    return found
