"""An HTTP client of the live server that spells out every request."""

import json

import pytest
import requests

from tests.support.live_server import running_server


@pytest.fixture
def live_server(tmp_path):
    with running_server(tmp_path / "server") as server:
        yield server


class Client:
    """A thin HTTP client that knows the server's address, authority and token."""

    def __init__(self, server) -> None:
        self.server = server
        self.session = requests.Session()
        # Proxies and authorities of the machine the tests run on are none of their business.
        self.session.trust_env = False
        self.session.headers["Authorization"] = f"Bearer {server.token}"
        authority = server.directory / "authority.crt"
        authority.write_bytes(server.certificates.authority_pem)
        self.session.verify = str(authority)

    def __call__(self, method: str, path: str, body=None, *, stream=False, **headers) -> requests.Response:
        data = json.dumps(body) if isinstance(body, dict | list) else body
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        url = self.server.url + path
        return self.session.request(method, url, data=data, headers=sent, timeout=10, stream=stream)


@pytest.fixture
def connect():
    """Make clients of a server, whichever it is."""
    clients = []

    def to(server):
        clients.append(Client(server))
        return clients[-1]

    yield to
    for client in clients:
        client.session.close()


@pytest.fixture
def http(live_server, connect):
    return connect(live_server)
