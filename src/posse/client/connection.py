"""Requests to one API server, answered with bytes or refused with an ApiError.

A server that does not know us any more (401), or that we do not (its certificate is of another authority), is
met with reloaded credentials, once per request. Whether a request is worth repeating is decided elsewhere.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import aiohttp
import msgspec
from yarl import URL

from posse.client.cluster_access import ClusterAccess, CredentialsError
from posse.client.credentials import Credentials
from posse.client.http_connections import Fence, Patience, Wires, keep_alive, open_fence
from posse.client.http_responses import AnswerBroken, HttpResponse
from posse.client.reachability import Reachability
from posse.client.streams import Stream
from posse.kinds.machinery.errors import UNAUTHORIZED, ApiError
from posse.version import VERSION

log = logging.getLogger(__name__)

T = TypeVar("T")

JSON = "application/json"
UNREACHABLE = "Unreachable"
"""The reason when no answer came: what was asked may or may not have been done."""
SERVICE_UNAVAILABLE = 503
PATIENCE = Patience()
BEGIN_SECONDS = 10.0
"""For an answer that goes on to begin."""
READ_AGAIN_SECONDS = 5.0
"""Minimum time between reloads of credentials because of a certificate error."""
_FIRST_REFUSAL = 400
_NO_ANSWER = (OSError, TimeoutError, AnswerBroken, aiohttp.ClientError)
_USUAL_PATIENCE = aiohttp.ClientTimeout(total=PATIENCE.answer, sock_connect=PATIENCE.connect)
# Compressing costs both sides more than sending.
_HEADERS = {"User-Agent": f"posse/{VERSION}", "Accept-Encoding": "identity"}


class RequestRefused(ApiError):  # noqa: N818 - it names what happened
    """The answer of the server; `retry_after` in seconds, 0 if it did not say."""

    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """`body` is sent as it is, as what `content_type` says."""

    method: str
    path: str
    query: Mapping[str, str] | None = None
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path


class Connection:
    """`open`, then use it, then `close`."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._renewing = asyncio.Lock()
        self._read_at = float("-inf")
        self._reachability = Reachability()
        self._streams: list[Stream] = []
        self._session: aiohttp.ClientSession

    async def open(self) -> None:
        """CredentialsError: there is no way to try."""
        self._use(await self._credentials.load())
        connector = aiohttp.TCPConnector(limit=0, socket_factory=_socket)
        self._session = aiohttp.ClientSession(connector=connector)

    @property
    def server(self) -> str:
        return self._access.server

    @property
    def trouble(self) -> str:
        """Why the server cannot be talked to, as far as is known; empty if it answers."""
        return self._reachability.trouble

    async def close(self) -> None:
        self._wires.close()
        await self._session.close()

    async def ask(self, call: Call, fence: Fence = open_fence) -> bytes:
        """The fence is asked each time, when nothing is left to do but to send."""
        access, asked_at = self._access, self._reachability.clock()
        try:
            answer = await self._trusting(lambda: self._exchange(call, fence))
            if answer.status == UNAUTHORIZED:
                await self._renew(access)
                answer = await self._exchange(call, fence)
                self._require_known(answer.status)
        except _NO_ANSWER as error:
            raise self._without_answer(access, error, asked_at) from error
        self._reachability.answered()
        if answer.status >= _FIRST_REFUSAL:
            raise _refusal(answer)
        return answer.body

    @asynccontextmanager
    async def stream(self, call: Call, quiet_seconds: float) -> AsyncIterator[Stream]:
        """An answer that goes on, and ends when nothing came for so long.

        It breaks off if the connection does, or is suspected to be dead because another one was.
        """
        patience = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE.connect, sock_read=quiet_seconds)
        access, asked_at = self._access, self._reachability.clock()
        try:
            async with asyncio.timeout(BEGIN_SECONDS):
                response = await self._begun(call, patience)
        except _NO_ANSWER as error:
            raise self._without_answer(access, error, asked_at) from error
        self._reachability.answered()
        stream = Stream(response)
        self._streams.append(stream)
        try:
            async with response:
                try:
                    yield stream
                finally:
                    self._streams.remove(stream)
                    stream.cut()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _unreachable(access, error) from error

    def _cut_silent(self, since: float) -> None:
        silent = [stream for stream in self._streams if stream.heard_at < since]
        log.warning("a connection to %s went silent; %d watches start over", self.server, len(silent))
        for stream in silent:
            stream.cut()

    def _without_answer(self, access: ClusterAccess, error: Exception, asked_at: float) -> ApiError:
        found = _unreachable(access, error)
        self._reachability.failed(found.message, asked_at)
        return found

    async def _begun(self, call: Call, patience: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        access = self._access
        response = await self._trusting(lambda: self._request(call, patience))
        if response.status == UNAUTHORIZED:
            response.release()
            await self._renew(access)
            response = await self._request(call, patience)
            self._require_known(response.status)
        if response.status >= _FIRST_REFUSAL:
            async with response:
                raise _refusal(await _read(response))
        return response

    def _require_known(self, status: int) -> None:
        """ApiError: the server does not know us, not even with what the files say now."""
        if status == UNAUTHORIZED:
            text = f"{self.server} rejected the credentials in {self._credentials.source} ({status})"
            raise ApiError(UNAUTHORIZED, "Unauthorized", text)

    async def _trusting(self, send: Callable[[], Awaitable[T]]) -> T:
        """Send, and once more with what the files say now if the server is none that we trust."""
        access = self._access
        try:
            return await send()
        except (ssl.SSLError, aiohttp.ClientSSLError):
            if asyncio.get_running_loop().time() - self._read_at < READ_AGAIN_SECONDS:
                raise
            await self._renew(access)
        return await send()

    async def _exchange(self, call: Call, fence: Fence) -> HttpResponse:
        if self._access.proxy is None:
            return await self._wires.exchange(
                self._encoded(call), fence, changes_nothing=call.method == "GET"
            )
        fence()
        async with await self._request(call, _USUAL_PATIENCE) as response:
            return await _read(response)

    def _encoded(self, call: Call) -> bytes:
        body = call.body or b""
        lines = f"{call.method} {self._prefix}{call.target} HTTP/1.1\r\n{self._head}Accept: {call.accept}\r\n"
        if call.body is not None:
            lines += f"Content-Type: {call.content_type}\r\n"
        return f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body

    async def _request(self, call: Call, patience: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        access = self._access
        headers = _headers(access) | {"Accept": call.accept}
        if call.body is not None:
            headers["Content-Type"] = call.content_type
        return await self._session.request(
            call.method,
            URL(access.server + call.target, encoded=True),
            data=call.body,
            headers=headers,
            ssl=True if access.tls is None else access.tls,
            server_hostname=access.tls_name,
            proxy=access.proxy,
            timeout=patience,
        )

    async def _renew(self, used: ClusterAccess) -> None:
        """Of many requests that are refused at once, one reads the credentials."""
        async with self._renewing:
            if self._access is not used:
                return
            try:
                access = await self._credentials.load()
            except CredentialsError as error:
                raise ApiError(UNAUTHORIZED, "Unauthorized", str(error)) from error
            self._wires.close()
            self._use(access)
            if access != used:
                log.info("the API server and we did not know each other any more; there are new credentials")

    def _use(self, access: ClusterAccess) -> None:
        self._access = access
        self._read_at = asyncio.get_running_loop().time()
        self._wires = Wires(access, PATIENCE, self._cut_silent)
        address = urlsplit(access.server)
        self._prefix = address.path.rstrip("/")
        headers = {"Host": address.netloc, **_headers(access)}
        self._head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())


def _headers(access: ClusterAccess) -> dict[str, str]:
    return _HEADERS | ({"Authorization": access.authorization} if access.authorization else {})


async def _read(response: aiohttp.ClientResponse) -> HttpResponse:
    return HttpResponse(response.status, await response.read(), response.headers.get("Retry-After", ""))


def _socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol = address[:3]
    made = socket.socket(family, kind, protocol)
    keep_alive(made)
    return made


def _unreachable(access: ClusterAccess, error: Exception) -> ApiError:
    # That library also tells how it holds its settings.
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        error = error.certificate_error
    elif isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    why = str(error) or type(error).__name__
    return ApiError(SERVICE_UNAVAILABLE, UNREACHABLE, f"cannot talk to {access.server}: {why}")


def _refusal(answer: HttpResponse) -> RequestRefused:
    """Servers and what stands before them do not always answer with a Status."""
    try:
        status = msgspec.json.decode(answer.body)
    except msgspec.DecodeError:
        status = None
    if not isinstance(status, dict):
        status = {"message": answer.body[:300].decode(errors="replace").strip()}
    refused = RequestRefused(
        answer.status,
        str(status.get("reason") or ""),
        str(status.get("message") or ""),
        status.get("details"),
    )
    refused.retry_after = float(answer.retry_after) if answer.retry_after.isdecimal() else 0.0
    return refused
