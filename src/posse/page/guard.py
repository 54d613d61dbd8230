"""Which requests are answered, and the headers that keep the page to itself.

The token travels in a header that only the page's own script sets, so no other site can send it. The Host
header must name this server, so a foreign name that resolves to this machine is refused.
"""

from collections.abc import Awaitable, Callable, Collection

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from posse.apiserver.http.tokens import TokenCheck
from posse.runtime.remote.page_access import Admission

DATA_PREFIX = "/api/"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")

Admit = Callable[[str], Awaitable[Admission]]
"""Given the Authorization header of a request."""
_REFUSALS = {
    Admission.UNKNOWN_USER: "open the address that Posse printed, with its token",
    Admission.FORBIDDEN: "the user of this token may not see the page",
    Admission.UNDECIDED: "the cluster cannot be asked whose token this is; trying again",
}


def admitting(token: str) -> Admit:
    """Admit those who have this token."""
    check = TokenCheck(token)

    async def admit(authorization: str) -> Admission:
        return Admission.ALLOWED if check.admits(authorization) else Admission.UNKNOWN_USER

    return admit


def authorization_of(request: web.Request) -> str:
    return request.headers.get("Authorization", "")


def guarding(admit: Admit, hosts: Collection[str]) -> Middleware:
    """`hosts` are names, without a port, under which the server may be asked."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = _refusal(request, hosts) or await _refused_data(request, admit)
        response = refusal if refusal is not None else await handler(request)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    return guarded


def _refusal(request: web.Request, hosts: Collection[str]) -> web.Response | None:
    name, _, port = request.headers.get("Host", "").rpartition(":")
    if (name if port.isdigit() else f"{name}:{port}".removeprefix(":")) not in hosts:
        return web.Response(text="this server is not known under that name\n", status=421)
    if request.method != "GET":
        return web.Response(text="the page only reads: use GET\n", status=405, headers={"Allow": "GET"})
    if request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"} or not _is_own(request):
        return web.Response(text="other sites may not ask\n", status=403)
    return None


def _is_own(request: web.Request) -> bool:
    """Whether the request is of this page, or of no page at all."""
    scheme, _, origin = request.headers.get("Origin", "").partition("://")
    return not (scheme or origin) or _without_usual_port(origin) == _without_usual_port(
        request.headers["Host"]
    )


def _without_usual_port(host: str) -> str:
    return host.removesuffix(":80").removesuffix(":443")


async def _refused_data(request: web.Request, admit: Admit) -> web.Response | None:
    if not request.path.startswith(DATA_PREFIX):
        return None
    found = await admit(authorization_of(request))
    if found is Admission.ALLOWED:
        return None
    return web.Response(text=f"{_REFUSALS[found]}\n", status=found.value)
