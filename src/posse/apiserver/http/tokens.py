"""The one bearer token that opens the server: made once, kept beside the certificates."""

import hmac
import re
import secrets
from pathlib import Path

from posse.apiserver.http.private_files import write_private

_USABLE = re.compile(r"[A-Za-z0-9._~+/=-]{16,}")


def ensure_token(path: Path) -> str:
    """Return the token kept at the path, making one when there is none that could travel in a header."""
    try:
        token = path.read_text("utf-8").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        token = ""
    if not _USABLE.fullmatch(token):
        token = secrets.token_urlsafe(32)
        write_private(path, token.encode())
    return token


class TokenCheck:
    """Compares in constant time, so that the answer's timing tells nothing about the token."""

    def __init__(self, token: str) -> None:
        self._expected = token.encode()

    def admits(self, authorization: str) -> bool:
        scheme, _, presented = authorization.partition(" ")
        is_bearer = scheme.lower() == "bearer"
        return (
            hmac.compare_digest(presented.strip().encode("utf-8", "surrogateescape"), self._expected)
            and is_bearer
        )
