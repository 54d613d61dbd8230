"""A small client of the Kubernetes API: one connection, one request at a time, refusals as Problems.

It only sends requests; the module of each verb decides which.
"""

import json
import re
import ssl
from collections.abc import Callable
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any

from posse.cli.access import Access
from posse.cli.problems import Problem, Unreachable
from posse.kinds.discovered import GROUPS_PATH, Discovered, paths_to_ask
from posse.kinds.machinery.errors import UNAUTHORIZED

Json = dict[str, Any]

JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
STRATEGIC_MERGE = "application/strategic-merge-patch+json"
STRICT = "?fieldValidation=Strict"
"""Objects with unknown fields are refused, as kubectl has it."""
TIMEOUT_SECONDS = 30.0


class Refused(Problem):
    """The server said no. `code` is the HTTP status; the text is the server's own."""

    def __init__(self, status: Json) -> None:
        super().__init__(
            f"the server refused ({status.get('reason') or 'Unknown'}): {status.get('message', '')}"
        )
        self.code: int = status.get("code", 0)


class ApiClient:
    def __init__(self, access: Access, on_warning: Callable[[str], None]) -> None:
        self._access = access
        self._on_warning = on_warning
        self._connection: HTTPConnection = _connection(access)
        self.answered_at = ""
        """The server's clock at its last answer, as in the header Date; empty before."""

    @property
    def default_namespace(self) -> str:
        return self._access.namespace

    @cached_property
    def served(self) -> Discovered:
        """Kinds and versions that the cluster serves, asked once."""
        return Discovered(self.get(path) for path in paths_to_ask(self.get(GROUPS_PATH)))

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str, accept: str = JSON) -> Json:
        return self._exchange("GET", path, None, {"Accept": accept})

    def get_text(self, path: str) -> str:
        code, answer = self._send("GET", path, None, {"Accept": "*/*"})
        if code >= 400:
            _judged(code, answer)
        return answer.decode(errors="replace")

    def create(self, path: str, obj: Json) -> Json:
        return self._exchange("POST", f"{path}{STRICT}", obj, {"Content-Type": JSON})

    def patch(self, path: str, obj: Json) -> Json:
        return self._exchange("PATCH", f"{path}{STRICT}", obj, {"Content-Type": STRATEGIC_MERGE})

    def delete(self, path: str, uid: str = "") -> Json:
        """With a uid, only the object that has it: another of the same name stays."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}} if uid else None
        return self._exchange("DELETE", path, body, {"Content-Type": JSON} if body else {})

    def _exchange(self, method: str, path: str, body: Json | None, headers: dict[str, str]) -> Json:
        return _judged(*self._send(method, path, body, headers))

    def _send(self, method: str, path: str, body: Json | None, headers: dict[str, str]) -> tuple[int, bytes]:
        who = self._access.authorization
        authorization = {"Authorization": who} if who else {}
        text = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, text, {"Accept": JSON} | headers | authorization)
            response = self._connection.getresponse()
            answer = response.read()
        except ssl.SSLError as error:
            raise self._unreachable(f"its certificate is not the one in {self._access.source}") from error
        except (OSError, HTTPException) as error:
            raise self._unreachable(str(error) or type(error).__name__) from error
        if response.status == UNAUTHORIZED:
            raise Unreachable(
                f"{self._access.server} rejected the credentials in {self._access.source} (401); "
                "use the kubeconfig of this cluster, or renew its credentials"
            )
        self._pass_on_warnings(response)
        self.answered_at = response.headers.get("Date", "")
        return response.status, answer

    def _unreachable(self, why: str) -> Unreachable:
        self._connection.close()  # else the next request fails because this one is under way
        where = f"{self._access.server} (from {self._access.source})"
        return Unreachable(f"cannot connect to {where}: {why}; is `posse up` running?")

    def _pass_on_warnings(self, response: HTTPResponse) -> None:
        for header in response.headers.get_all("Warning") or []:
            # 299 - "text", with quotes and backslashes of the text escaped
            text = re.sub(r"\\(.)", r"\1", header.partition('"')[2].removesuffix('"'))
            self._on_warning(text or header)


def _connection(access: Access) -> HTTPConnection:
    if access.tls is None:
        return HTTPConnection(access.host, access.port, timeout=TIMEOUT_SECONDS)
    return _TlsConnection(access, access.tls)


class _TlsConnection(HTTPSConnection):
    """The certificate may have another name than the host, as kubeconfigs can say."""

    def __init__(self, access: Access, tls: ssl.SSLContext) -> None:
        super().__init__(access.host, access.port, timeout=TIMEOUT_SECONDS, context=tls)
        self._tls, self._name = tls, access.tls_name or access.host

    def connect(self) -> None:
        HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


def _judged(code: int, answer: bytes) -> Json:
    try:
        body: Json = json.loads(answer)
    except ValueError as error:
        raise Problem(f"the server answered with something that is not JSON (HTTP {code})") from error
    if code >= 400:
        raise Refused(body | {"code": code})
    return body
