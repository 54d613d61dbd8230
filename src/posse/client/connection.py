"""Requests to one API server, answered with bytes or refused with an ApiError, whatever went wrong on the way.

A server that does not know us any more (401) is shown credentials that are read anew, once per request. Whether a
request is worth repeating is decided elsewhere.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from posse.client.credentials import Access, Credentials, CredentialsError
from posse.kinds.errors import UNAUTHORIZED, ApiError
from posse.version import VERSION

log = logging.getLogger(__name__)

JSON = "application/json"
UNREACHABLE = "Unreachable"
"""The reason when no answer came: what was asked may or may not have been done."""
SERVICE_UNAVAILABLE = 503
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
_FIRST_REFUSAL = 400
_USUAL_PATIENCE = aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=CONNECT_SECONDS)
# A peer that is gone without a word is noticed after about half a minute.
_KEEPALIVE = {socket.TCP_KEEPIDLE: 15, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}


class Refused(ApiError):  # noqa: N818 - it names what happened
    """What the server said; `retry_after` is when it wants to be asked again, in seconds, 0 if it did not say."""

    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """`body` is sent as it is, as what `content_type` says."""

    method: str
    path: str
    query: Mapping[str, str] | None = None
    body: bytes | None = None
    content_type: str = JSON


class Connection:
    """`open`, then use it, then `close`."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._renewing = asyncio.Lock()
        self._session: aiohttp.ClientSession
        self._access: Access

    async def open(self) -> None:
        """CredentialsError: there is no way to try."""
        self._access = await self._credentials.load()
        connector = aiohttp.TCPConnector(limit=0, socket_factory=_socket)
        self._session = aiohttp.ClientSession(
            connector=connector,
            # Compressing costs both sides more than sending.
            headers={"User-Agent": f"posse/{VERSION}", "Accept": JSON, "Accept-Encoding": "identity"},
            trust_env=True,
        )

    async def close(self) -> None:
        await self._session.close()

    async def ask(self, call: Call) -> bytes:
        async with self._answer(call, _USUAL_PATIENCE) as response:
            return await response.read()

    @asynccontextmanager
    async def stream(self, call: Call, quiet_seconds: float) -> AsyncIterator[aiohttp.StreamReader]:
        """An answer that goes on; when nothing came for so long, it is given up."""
        patience = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=quiet_seconds)
        async with self._answer(call, patience) as response:
            yield response.content

    @asynccontextmanager
    async def _answer(
        self, call: Call, patience: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Errors while the answer is read inside the block count as no answer."""
        access = self._access
        try:
            response = await self._send(call, access, patience)
            if response.status == UNAUTHORIZED:
                response.release()
                response = await self._send(call, await self._renewed(access), patience)
            async with response:
                if response.status >= _FIRST_REFUSAL:
                    raise _refusal(response, await response.read())
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _unreachable(access, error) from error

    async def _send(
        self, call: Call, access: Access, patience: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        query = f"?{urlencode(call.query)}" if call.query else ""
        headers = {"Authorization": access.authorization} if access.authorization else {}
        if call.body is not None:
            headers["Content-Type"] = call.content_type
        return await self._session.request(
            call.method,
            URL(access.server + call.path + query, encoded=True),
            data=call.body,
            headers=headers,
            ssl=True if access.tls is None else access.tls,
            server_hostname=access.tls_name,
            proxy=access.proxy,
            timeout=patience,
        )

    async def _renewed(self, used: Access) -> Access:
        """Of many requests that are refused at once, one reads the credentials."""
        async with self._renewing:
            if self._access is used:
                try:
                    self._access = await self._credentials.load()
                except CredentialsError as error:
                    raise ApiError(UNAUTHORIZED, "Unauthorized", str(error)) from error
                log.info("the API server did not know us any more; credentials read anew")
            return self._access


def _socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol = address[:3]
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE.items():
        made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _unreachable(access: Access, error: Exception) -> ApiError:
    why = str(error) or type(error).__name__
    return ApiError(SERVICE_UNAVAILABLE, UNREACHABLE, f"cannot talk to {access.server}: {why}")


def _refusal(response: aiohttp.ClientResponse, answer: bytes) -> Refused:
    """Servers and what stands before them do not always answer with a Status."""
    try:
        status = msgspec.json.decode(answer)
    except msgspec.DecodeError:
        status = None
    if not isinstance(status, dict):
        status = {"reason": response.reason or "", "message": answer[:300].decode(errors="replace")}
    refused = Refused(
        response.status,
        str(status.get("reason") or ""),
        str(status.get("message") or ""),
        status.get("details"),
    )
    refused.retry_after = _seconds(response.headers.get("Retry-After", ""))
    return refused


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 0.0
