"""Whether quotas ration priority classes: groups get around them while priorities of members are ignored.

A quota counts pods by their own class. A group may name a higher class than its pods were admitted with.
"""

from collections.abc import Sequence

import msgspec

from posse.client.connection import Call, Connection
from posse.client.reading import WirePage, read, read_page
from posse.client.repeating import repeated

_SCOPE = "PriorityClass"
_PATH = "/api/v1/resourcequotas"
_PAGE_SIZE = "500"


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""


class _Expression(msgspec.Struct, rename="camel"):
    scope_name: str = ""


class _Selector(msgspec.Struct, rename="camel"):
    match_expressions: tuple[_Expression, ...] | None = None


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    scopes: tuple[str, ...] | None = None
    scope_selector: _Selector | None = None


class _Quota(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = _Spec()

    @property
    def rations_classes(self) -> bool:
        selector = self.spec.scope_selector or _Selector()
        selected = [expression.scope_name for expression in selector.match_expressions or ()]
        return _SCOPE in [*(self.spec.scopes or ()), *selected]


_read_quota = msgspec.json.Decoder(_Quota).decode


async def rationing_quotas(connection: Connection, own_namespace: str) -> Sequence[str]:
    """Names of quotas that ration priority classes, except in Posse's own namespace.

    ApiError: not to be seen.
    """
    found, token = list[str](), ""
    while True:
        page = await _page(connection, token)
        quotas = [read(bytes(item), _read_quota) for item in page.items or ()]
        found += [
            f"{quota.metadata.namespace}/{quota.metadata.name}"
            for quota in quotas
            if quota.rations_classes and quota.metadata.namespace != own_namespace
        ]
        token = page.metadata.continue_token
        if not token:
            return found


async def _page(connection: Connection, token: str) -> WirePage:
    selection = {"limit": _PAGE_SIZE} | ({"continue": token} if token else {})

    async def ask() -> WirePage:
        return read(await connection.ask(Call("GET", _PATH, selection)), read_page)

    return await repeated(ask)
