"""What a scheduler serves over HTTP: is it alive, is it ready, its metrics, and what it was told to do."""

from collections.abc import Awaitable, Callable, Mapping

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from posse.apiserver.http.server import AUTHENTICATED
from posse.runtime.remote.page_access import Admission, PageAccess

OPEN_PAGES = frozenset({"/healthz", "/livez", "/readyz"})

Checks = Mapping[str, str]
"""What was looked at, with what is wrong about it; empty if nothing is."""


def build_probes(
    alive: Callable[[], Checks],
    ready: Callable[[], Checks],
    metrics: Callable[[str], Awaitable[tuple[bytes, str]]],
    settings: Callable[[], object],
    access: PageAccess | None = None,
) -> web.Application:
    """Without `access`, everybody who can connect may read all pages."""

    async def metrics_page(request: web.Request) -> web.Response:
        body, content_type = await metrics(request.headers.get("Accept", ""))
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def settings_page(_request: web.Request) -> web.Response:
        return web.Response(body=msgspec.json.encode(settings()), content_type="application/json")

    app = web.Application(middlewares=[_admitting(access)] if access else [])
    if access is not None:
        app[AUTHENTICATED] = set()
    app.router.add_get("/healthz", _checking(alive))
    app.router.add_get("/livez", _checking(alive))
    app.router.add_get("/readyz", _checking(ready))
    app.router.add_get("/metrics", metrics_page)
    app.router.add_get("/configz", settings_page)
    return app


def _admitting(access: PageAccess) -> Middleware:
    @web.middleware
    async def admitted(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path in OPEN_PAGES:
            return await handler(request)
        admission = await access.admit(request.headers.get("Authorization", ""), request.path)
        if admission is not Admission.ALLOWED:
            return web.Response(text=f"{admission.name.lower()}\n", status=admission.value)
        request.app[AUTHENTICATED].add(request.protocol)
        return await handler(request)

    return admitted


def _checking(check: Callable[[], Checks]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def page(request: web.Request) -> web.Response:
        checks = check()
        is_good = not any(checks.values())
        if is_good and "verbose" not in request.query:
            return web.Response(text="ok")
        lines = [f"[{'-' if wrong else '+'}]{name} {wrong or 'ok'}" for name, wrong in checks.items()]
        return web.Response(text="\n".join([*lines, ""]), status=200 if is_good else 503)

    return page
