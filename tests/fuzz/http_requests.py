"""Requests as no client sends them, to a whole `posse up`: what it takes is also scheduled, run and controlled.

No answer says that the server is at fault, no connection is dropped, nothing of it reaches the log as a traceback,
and its memory stays within bounds.
"""

import asyncio
import copy
import json
import os
import ssl
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import aiohttp
import yaml
from yarl import URL

from posse.apiserver.http.negotiation import PROTOBUF
from posse.kinds.wire.values import ProtobufError
from posse.kinds.wire.writing import write_object
from posse.transport.patches import APPLY_PATCH
from tests.fuzz.generation import NAMES, NUMBERS, Maker
from tests.properties.test_validation import VALID

AT_ONCE = 8
SERVER_AT_FAULT = 500
INSUFFICIENT_STORAGE = 507
READY_SECONDS = 60.0
METHODS = [*4 * ["POST"], *3 * ["PATCH"], *2 * ["PUT"], *2 * ["GET"], "DELETE", "OPTIONS", "BREW"]
MEDIA_TYPES = [
    "application/json",
    "application/yaml",
    "text/plain",
    PROTOBUF,
    "x/\xff",
]
ACCEPTED = [
    PROTOBUF,
    f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "x/y",
]
QUERIES = [
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "resourceVersion",
    "fieldManager",
    "dryRun",
    "force",
]
QUERIES += [
    "propagationPolicy",
    "gracePeriodSeconds",
    "fieldValidation",
    "pretty",
    "watch",
    "timeoutSeconds",
    "x",
]


class Server:
    def __init__(self, folder, control_plane="embedded"):
        self._folder = folder
        self._control_plane = control_plane
        self.log = folder / "log"

    async def __aenter__(self):
        self._folder.mkdir(parents=True)
        words = ["up", "--port", "0", "--data-dir", str(self._folder / "data"), "--nodes", "4"]
        words += ["--control-plane", self._control_plane]
        with self.log.open("w") as log:
            self._process = subprocess.Popen(  # noqa: ASYNC220 - nothing else is under way
                [sys.executable, "-m", "posse", *words],
                stdout=log,
                stderr=log,
                env=os.environ | {"XDG_DATA_HOME": str(self._folder / "share")},
            )
        kubeconfig = self._folder / "data" / "kubeconfig"
        async with asyncio.timeout(READY_SECONDS):
            while not kubeconfig.exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.05)
        access = yaml.safe_load(kubeconfig.read_text())
        self.url = access["clusters"][0]["cluster"]["server"]
        unverified = ssl.create_default_context()
        unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
        self.session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {access['users'][0]['user']['token']}"},
            connector=aiohttp.TCPConnector(ssl=unverified, limit=AT_ONCE),
            timeout=aiohttp.ClientTimeout(total=60),
        )
        await self._have_a_class()
        return self

    async def _have_a_class(self):
        """The one that the valid objects name."""
        path = "/apis/scheduling.k8s.io/v1/priorityclasses"
        async with self.session.post(
            self.url + path, json={"metadata": {"name": "high"}, "value": 1000}
        ) as answer:
            assert answer.status < 300, await answer.text()

    async def __aexit__(self, *_error):
        await self.session.close()
        self.stop()

    def stop(self):
        """Return how long it takes."""
        started = time.monotonic()
        self._process.terminate()
        self._process.wait(60)
        return time.monotonic() - started

    @property
    def is_running(self):
        return self._process.poll() is None

    def cpu_seconds(self):
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self):
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") // 2**20


async def fuzz(folder, requests, seed, tell=lambda _text: None):
    """Return how often each status was answered, and the memory at the start and at most. AssertionError else."""
    statuses, numbers = Counter(), iter(range(seed, seed + requests))
    async with Server(folder) as server:
        memory = [server.memory_mb()]

        async def send():
            for number in numbers:
                statuses[await _one(server, number)] += 1
                if (number - seed) % 5000 == 0:
                    memory.append(server.memory_mb())
                    tell(f"{number - seed} requests, {memory[-1]} MB, {dict(sorted(statuses.items()))}")

        await asyncio.gather(*(send() for _ in range(AT_ONCE)))
        memory.append(server.memory_mb())
        assert server.is_running, "it ended"
    assert "Traceback" not in server.log.read_text(), f"see {server.log}"
    return statuses, memory[0], max(memory)


async def _one(server, number):
    maker = Maker(number, wildness=0.03)
    kind = maker.chance.choice([maker.kind(), *VALID])
    method, path, body, headers = _request(maker, kind)
    try:
        async with server.session.request(
            method, URL(server.url + path, encoded=True), data=body, headers=headers
        ) as answer:
            text = await answer.read()
    except aiohttp.ClientError as error:
        raise AssertionError(f"request {number}, {method} {path}: {error!r}") from error
    is_fine = answer.status < SERVER_AT_FAULT or answer.status == INSUFFICIENT_STORAGE
    assert is_fine, f"request {number}, {method} {path}: {answer.status} {text[:500]}"
    return answer.status


def _request(maker, kind):
    chance = maker.chance
    method, obj, version = chance.choice(METHODS), _object(maker, kind), chance.choice(kind.versions)
    if isinstance(obj, dict) and chance.random() < 0.95:
        obj["apiVersion"] = kind.api_version_of(version)
    body, media_type = json.dumps(obj).encode(), "application/json"
    if method == "PATCH":
        media_type, patch = maker.patch(obj) if chance.random() < 0.7 else (APPLY_PATCH, obj)
        body = json.dumps(patch).encode()
    elif chance.random() < 0.15:
        body, media_type = _as_protobuf(obj, body), PROTOBUF
    if method in {"GET", "OPTIONS", "BREW"}:
        body = None
    elif chance.random() < 0.05:
        body = _spoiled(chance, body)
    if chance.random() < 0.03:
        media_type = chance.choice(MEDIA_TYPES)
    headers = {"Content-Type": media_type}
    if chance.random() < 0.1:
        headers["Accept"] = chance.choice(ACCEPTED)
    return method, _path(maker, kind, version, method), body, headers


def _as_protobuf(obj, body):
    """What has no such form is sent as it is, in the wrong clothes."""
    try:
        return write_object(obj)
    except (ProtobufError, AttributeError, TypeError, ValueError):
        return body


def _object(maker, kind):
    """Often a valid object with an odd value in some places: it comes further than one that is odd throughout."""
    if kind not in VALID or maker.chance.random() < 0.3:
        return maker.object(kind)
    obj = copy.deepcopy(VALID[kind])
    obj |= {"apiVersion": kind.api_version, "kind": kind.name}
    obj["metadata"] = {"name": maker.chance.choice(NAMES)}
    for _ in range(maker.chance.choice([0, 1, 1, 2, 3])):
        spec = obj.get("spec")
        has_parts = isinstance(spec, dict) and spec and maker.chance.random() < 0.7
        _replace_somewhere(maker, spec if has_parts else obj)
    return obj


def _replace_somewhere(maker, part):
    while True:
        key = maker.chance.choice(list(part) if isinstance(part, dict) else range(len(part)))
        inner = part[key]
        if not isinstance(inner, dict | list) or not inner or maker.chance.random() < 0.1:
            part[key] = _odd(maker, inner)
            return
        part = inner


def _odd(maker, usual):
    """Mostly of the same type: others are refused before anything looks at them."""
    if maker.chance.random() < 0.2:
        return maker.anything(1)
    match usual:
        case str():
            return maker.text()
        case bool():
            return not usual
        case int() | float():
            return maker.chance.choice(NUMBERS)
        case list():
            return maker.chance.choice([[], usual * 2, usual * 50])
        case _:
            return {}


def _spoiled(chance, body):
    spoiled = bytearray(body)
    for _ in range(chance.randrange(1, 5)):
        spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
    return bytes(spoiled[: chance.randrange(len(spoiled))]) if chance.random() < 0.3 else bytes(spoiled)


def _path(maker, kind, version, method):
    chance = maker.chance
    root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    scope = "/namespaces/default" if kind.namespaced and chance.random() < 0.95 else ""
    path = f"{root}{scope}/{kind.plural}"
    share = {"POST": 0.1, "PUT": 1.0, "PATCH": 1.0}.get(method, 0.7)
    if chance.random() < share:
        # The namespaces of the cluster itself stay.
        path += f"/{chance.choice(NAMES)}"
        if chance.random() < 0.3:
            path += (
                f"/{chance.choice(['status', 'scale', 'binding', 'finalize', 'eviction', 'x', '%2F', '%00'])}"
            )
    words = {chance.choice(QUERIES): maker.text() for _ in range(chance.choice([0, 0, 0, 1, 2]))}
    if method == "PATCH" and chance.random() < 0.5:
        words |= {"fieldManager": chance.choice(NAMES)}
    # A watch that is not told to end would go on.
    words |= {"timeoutSeconds": "1"} if "watch" in words else {}
    query = URL.build(query=words).raw_query_string
    return f"{path}?{query}" if query else path
