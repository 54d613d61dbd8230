"""The aiohttp application: who may ask, what is asked for, and that every failure is answered with a Status.

One handler takes every request, because Kubernetes paths are parsed, not routed. It decides nothing about
resources.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from aiohttp import web

from posse.apiserver.committer import Committer
from posse.apiserver.http.account_tokens import AccountTokens
from posse.apiserver.http.answers import answer, failure, plain_page
from posse.apiserver.http.bodies import BODY_LIMIT_BYTES, read_object
from posse.apiserver.http.documents import Documents
from posse.apiserver.http.negotiation import JSON, negotiate
from posse.apiserver.http.not_served import not_served
from posse.apiserver.http.parameters import check_timeout
from posse.apiserver.http.paths import parse_resource_path
from posse.apiserver.http.rendering import encode
from posse.apiserver.http.resources import Resources
from posse.apiserver.http.reviews import OWNER, REVIEWS, review_answer
from posse.apiserver.http.server import AUTHENTICATED
from posse.apiserver.http.streams import WatchStreams
from posse.apiserver.http.tokens import TokenCheck
from posse.apiserver.service import ApiService
from posse.kinds.gating import served_kinds
from posse.kinds.machinery.errors import ApiError, internal, not_acceptable, unauthorized
from posse.kinds.machinery.kind import Json

HEALTH_PATHS = frozenset({"/healthz", "/livez", "/readyz"})
# The one check there is: a server that answers is healthy.
HEALTH_CHECK = "ping"
BINDINGS = re.compile(r"/api/v1/namespaces/(?P<namespace>[^/]+)/bindings")
OPEN_PATHS = HEALTH_PATHS | {f"{path}/{HEALTH_CHECK}" for path in HEALTH_PATHS} | {"/version"}

log = logging.getLogger(__name__)

Page = Callable[[str], Awaitable[tuple[bytes, str]]]
"""Given an Accept header: a text and its content type."""
NO_PAGES: Mapping[str, Page] = MappingProxyType({})


def build_app(
    service: ApiService,
    committer: Committer,
    token: str,
    clock: Callable[[], float],
    pages: Mapping[str, Page] = NO_PAGES,
) -> web.Application:
    """Make the application; `clock` tells the time for the ages that tables print.

    `pages` are texts that others in the process have to tell, by path.
    """
    streams = WatchStreams(service, committer)
    documents = Documents(served_kinds(service.gates))
    tokens = AccountTokens(token, service, clock)
    resources = Resources(service, committer, clock, streams, tokens)
    front = Front(TokenCheck(token), tokens, documents, resources, pages)
    app = web.Application(client_max_size=BODY_LIMIT_BYTES)
    app[AUTHENTICATED] = set()
    app.router.add_route("*", "/{path:.*}", front.handle)

    async def end_streams(_app: web.Application) -> None:
        streams.stop()

    app.on_shutdown.append(end_streams)
    return app


class Front:
    """Answers every request, whatever happens behind it."""

    def __init__(
        self,
        owner: TokenCheck,
        accounts: AccountTokens,
        documents: Documents,
        resources: Resources,
        pages: Mapping[str, Page],
    ) -> None:
        self._owner = owner
        self._accounts = accounts
        self._documents = documents
        self._resources = resources
        self._pages = pages

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._answer(request)
        except ApiError as error:
            return failure(error)
        except web.HTTPException:
            raise  # The HTTP library itself has the answer.
        except Exception as error:
            if isinstance(error, ConnectionError) and _is_gone(request):
                # That is its right. The answer has no reader; raised, it would be logged as a fault of ours.
                return web.Response()
            log.exception("%s %s failed", request.method, request.rel_url.raw_path)
            return failure(internal("the server failed on this request; its log says more"))

    def _user(self, authorization: str) -> Json | None:
        return OWNER if self._owner.admits(authorization) else self._accounts.user(authorization)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw_path = request.rel_url.raw_path
        path = raw_path.rstrip("/")
        user = self._user(request.headers.get("Authorization", ""))
        if user is not None:
            request.app[AUTHENTICATED].add(request.protocol)
        elif path not in OPEN_PATHS:
            raise unauthorized()
        check_timeout(request.rel_url.query)
        target = parse_resource_path(raw_path)
        if target is not None and target.kind in self._documents.kinds:
            return await self._resources.answer(request, target)
        if path.removesuffix(f"/{HEALTH_CHECK}") in HEALTH_PATHS:
            return web.Response(text=_health(path, is_verbose="verbose" in request.rel_url.query))
        if path in REVIEWS and request.method == "POST":
            _check_plain(request.headers.get("Accept", ""))
            return answer(encode(review_answer(path, await read_object(request), user)), 201)
        if binding := BINDINGS.fullmatch(path):
            return await self._resources.bind(request, binding["namespace"])
        if path in self._pages and request.method in {"GET", "HEAD"}:
            return plain_page(*await self._pages[path](request.headers.get("Accept", "")))
        document = self._documents.answer(request, path)
        if document is None:
            raise not_served(path)
        return document


def _check_plain(accept: str) -> None:
    """Reviews are no objects that could be shown as a Table."""
    if ";as=" in accept and negotiate(accept, ()) is None:
        raise not_acceptable([JSON])


def _health(path: str, *, is_verbose: bool) -> str:
    has_checks = path in HEALTH_PATHS
    return f"[+]{HEALTH_CHECK} ok\n{path[1:]} check passed\n" if is_verbose and has_checks else "ok"


def _is_gone(request: web.Request) -> bool:
    """Whether the client has left."""
    return request.transport is None or request.transport.is_closing()
