"""What Posse needs in a new cluster: definitions of its kinds, and accounts with the rights of production."""

import asyncio
import time

from posse.client.connection import Call, Connection
from posse.client.served_versions import ServedVersions
from posse.installation.bundle import objects
from posse.installation.options import ForeignGroupApi, InstallOptions
from posse.kinds.discovered import ClusterForm
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Json
from posse.runtime.process.run_options import SetController
from posse.runtime.remote.applying import apply_object

DEFINITION = "CustomResourceDefinition"
# Posse runs here, not in a pod: no Deployment, and nothing that belongs to one.
INSTALLED_KINDS = frozenset(
    {DEFINITION, "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
)
SERVED_SECONDS = 60.0
POLL_SECONDS = 0.1


async def install(connection: Connection) -> None:
    """Apply what is not there, and wait until the new kinds are served."""
    form = await ServedVersions(connection).form() or ClusterForm.CRD
    wanted = [obj for obj in objects(_options(form)) if obj["kind"] in INSTALLED_KINDS]
    for obj in wanted:
        await apply_object(connection, obj)
    for obj in wanted:
        if obj["kind"] == DEFINITION:
            await wait_served(connection, _collection(obj))


def _options(form: ClusterForm) -> InstallOptions:
    return InstallOptions(form, controllers=tuple(SetController), foreign_groups=tuple(ForeignGroupApi))


def _collection(definition: Json) -> str:
    spec = definition["spec"]
    return f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"


async def wait_served(connection: Connection, path: str) -> None:
    """Return when the API server knows the path. ApiError: it still does not after a while."""
    deadline = time.monotonic() + SERVED_SECONDS
    while True:
        try:
            await connection.ask(Call("GET", path, {"limit": "1"}))
        except ApiError as error:
            if error.code != NOT_FOUND or time.monotonic() > deadline:
                raise
            await asyncio.sleep(POLL_SECONDS)
        else:
            return
