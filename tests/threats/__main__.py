"""Attacks on a whole `posse up`: how long each is answered, and how long all others wait. See `make attack`."""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

from tests.fuzz.http_requests import SERVER_AT_FAULT, Server
from tests.threats.attacks import JSON, MERGE, POD_ATTACKS, PODS, create, largest_pods, pod
from tests.threats.body_attacks import BODY_ATTACKS
from tests.threats.concert_attacks import CONCERT_ATTACKS
from tests.threats.device_attacks import DEVICE_ATTACKS
from tests.threats.field_attacks import FIELD_ATTACKS
from tests.threats.note_attacks import NOTE_ATTACKS
from tests.threats.number_attacks import NUMBER_ATTACKS
from tests.threats.object_attacks import OBJECT_ATTACKS
from tests.threats.text_attacks import TEXT_ATTACKS

BOUND_SECONDS = 60
NO_ANSWER = 599
ATTACKS = {name: (lambda make=make, n=n: create(PODS, make(n))) for name, (make, n) in POD_ATTACKS.items()}
ATTACKS |= {name: (lambda make=make, n=n: create(*make(n))) for name, (make, n) in OBJECT_ATTACKS.items()}
ATTACKS |= BODY_ATTACKS | NUMBER_ATTACKS | FIELD_ATTACKS | DEVICE_ATTACKS | CONCERT_ATTACKS
ATTACKS |= NOTE_ATTACKS | TEXT_ATTACKS
ATTACKS |= {"pods: within all limits": lambda: [create(PODS, one)[0] for one in largest_pods()]}
CROWDS = [name for name in ATTACKS if "within the limit" in name or "indexed" in name]
"""They make a hundred thousand pods, so each has a server of its own."""


async def send(server, method, path, media_type=JSON, body=None):
    """Return status, seconds and what was answered."""
    started = time.monotonic()
    try:
        async with server.session.request(
            method, server.url + path, data=body, headers={"Content-Type": media_type}
        ) as answer:
            text = await answer.read()
            return answer.status, time.monotonic() - started, text
    except (aiohttp.ClientError, TimeoutError) as error:
        return NO_ANSWER, time.monotonic() - started, repr(error).encode()


async def probe(server, waits):
    while True:
        _, seconds, _ = await send(server, "GET", "/api/v1/namespaces/default")
        waits.append(seconds)
        await asyncio.sleep(0.01)


async def bound(server, name):
    """Return how long a small pod waits for its node."""
    started = time.monotonic()
    await send(server, "POST", PODS, JSON, json.dumps(pod(name)).encode())
    while time.monotonic() - started < BOUND_SECONDS:
        _, _, text = await send(server, "GET", f"{PODS}/{name}")
        if b'"nodeName"' in text:
            break
        await asyncio.sleep(0.01)
    return time.monotonic() - started


async def attack(server, name, number, seconds, *, is_ours):
    """Return whether the attack hurts; how long a kube-apiserver takes to answer is not ours."""
    requests, waits, used = ATTACKS[name](), [], server.cpu_seconds()
    probing = asyncio.create_task(probe(server, waits))
    answers = [await send(server, *request) for request in requests]
    spent = server.cpu_seconds() - used
    behind = await bound(server, f"small-{number}")
    probing.cancel()
    slowest, longest = max(each for _, each, _ in answers), max(waits, default=0)
    statuses = sorted({status for status, _, _ in answers})
    hurts = behind > seconds + slowest * (not is_ours)
    if is_ours:
        hurts = hurts or max(slowest, longest) > seconds or statuses[-1] >= SERVER_AT_FAULT
    said = re.search(r'"message":"([^"]*)', answers[-1][2].decode(errors="replace"))
    _say(
        f"{'!' if hurts else ' '} {name:42} {statuses!s:15} answered {slowest:5.2f}  CPU {spent:5.2f}  "
        f"others {longest:5.2f}  bound {behind:5.2f}  {server.memory_mb():5} MB  {said[1][:80] if said else ''}"
    )
    await clean_up(server, requests, number)
    return hurts


async def clean_up(server, requests, number):
    await send(server, "DELETE", f"{PODS}/small-{number}?gracePeriodSeconds=0")
    for target in dict.fromkeys(map(_target, requests)):
        await send(server, "DELETE", f"{target}?gracePeriodSeconds=0&propagationPolicy=Background")
        await send(server, "PATCH", target, MERGE, b'{"metadata":{"finalizers":null}}')


def _target(request):
    """The path of the object that a request makes or changes."""
    _, path, media_type, body = request
    path = path.partition("?")[0].removesuffix("/eviction").removesuffix("/status")
    if path.rpartition("/")[2].startswith("poison"):
        return path
    name = re.search(rb'"metadata": ?{"name": ?"(poison[^"]*)"', body or b"") if media_type == JSON else None
    return f"{path}/{name[1].decode() if name else 'poison'}"


async def assault(folder, names, seconds, control_plane):
    """Return the attacks that hurt one server, which has to stop at once afterwards."""
    is_ours = control_plane == "embedded"
    async with Server(folder, control_plane) as server:
        found = [
            name
            for number, name in enumerate(names)
            if await attack(server, name, number, seconds, is_ours=is_ours)
        ]
        stopped = await asyncio.to_thread(server.stop)
    _say(f"  stopped in {stopped:.2f} s")
    if is_ours and stopped > 2 * seconds:
        found.append("SIGTERM")
    assert "Traceback" not in server.log.read_text(), server.log.read_text()[-4000:]
    return found


async def assaults(folder, names, seconds, control_plane):
    found = []
    small = [name for name in names if name not in CROWDS]
    for number, part in enumerate([small, *([name] for name in names if name in CROWDS)]):
        if part:
            found += await assault(folder / str(number), part, seconds, control_plane)
    return found


def _say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__)
    parser.add_argument("names", nargs="?", default="", help="only attacks that this pattern finds")
    parser.add_argument("--seconds", type=float, default=1.0, help="on a slow machine: more")
    parser.add_argument("--control-plane", choices=("embedded", "kubernetes"), default="embedded")
    chosen = parser.parse_args()
    names = [name for name in ATTACKS if re.search(chosen.names, name)]
    with tempfile.TemporaryDirectory(prefix="posse-attack-") as folder:
        found = asyncio.run(assaults(Path(folder), names, chosen.seconds, chosen.control_plane))
    _say(f"{len(names)} attacks, of which {len(found)} hurt: {', '.join(found) or 'none'}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
