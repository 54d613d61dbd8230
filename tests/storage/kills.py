"""`posse up` under load, killed with SIGKILL again and again, beside a ledger of what its client was told.

After each kill the files are read before anything else can change them: what was acknowledged or shown is there,
nothing is there that was never sent, and of a gang all pods are bound or none. All lives are recorded; in the
end the recording is replayed, and each decision is the same again.
"""

import asyncio
import json
import os
import random
import signal
import ssl
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field

import aiohttp
import yaml

from posse.store.journal import FILE_NAME, checked_rows, connect_read_only, read_version
from posse.store.maintenance import check

WRITERS, NAMES_PER_WRITER = 6, 4
GANGS, MEMBERS = 3, 6
READY_SECONDS = 60.0
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
REFUSED = 300


@dataclass
class Ledger:
    """By name of an object, the number of its last write: acknowledged, sent, and shown by a read. 0: absent."""

    acknowledged: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    sent: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    shown: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    writes: int = 0
    reads: int = 0

    def check(self, found):
        for name in self.sent:
            number = found.get(name, 0)
            assert number in {self.acknowledged[name], self.sent[name]}, (
                f"{name} is at {number}; {self.acknowledged[name]} was acknowledged, {self.sent[name]} sent"
            )
            # A deletion may be there that was not acknowledged.
            is_deleted = number == self.sent[name] == 0
            assert is_deleted or number >= self.shown[name], (
                f"{name} is at {number}, but {self.shown[name]} was shown"
            )
            self.acknowledged[name] = self.sent[name] = self.shown[name] = number


def recording_of(folder):
    return folder.parent / "recording"


def replayed(folder):
    """Return what `posse replay` says. CalledProcessError: a decision differs."""
    words = [sys.executable, "-m", "posse", "replay", str(recording_of(folder))]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]


class Life:
    """One process, from its start to its violent end."""

    def __init__(self, folder):
        self._folder = folder

    async def __aenter__(self):
        kubeconfig = self._folder / "kubeconfig"
        kubeconfig.unlink(missing_ok=True)
        words = ["up", "--port", "0", "--data-dir", str(self._folder), "--nodes", "4"]
        words += ["--record", str(recording_of(self._folder))]
        environment = os.environ | {"XDG_DATA_HOME": str(self._folder.parent / "share")}
        self.process = subprocess.Popen(  # noqa: ASYNC220 - nothing else is under way
            [sys.executable, "-m", "posse", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        async with asyncio.timeout(READY_SECONDS):
            while not kubeconfig.exists():
                assert self.process.poll() is None, "it did not start"
                await asyncio.sleep(0.02)
        access = yaml.safe_load(kubeconfig.read_text())
        cluster, user = access["clusters"][0]["cluster"], access["users"][0]["user"]
        unverified = ssl.create_default_context()
        unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
        self._session = aiohttp.ClientSession(
            cluster["server"],
            headers={"Authorization": f"Bearer {user['token']}"},
            connector=aiohttp.TCPConnector(ssl=unverified, limit=0),
        )
        return self

    async def __aexit__(self, *_error):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        await self._session.close()

    async def ask(self, method, path, body=None, media_type="application/json"):
        """Return the status and what was answered. aiohttp.ClientError: no answer came."""
        data = None if body is None else json.dumps(body)
        async with self._session.request(
            method, path, data=data, headers={"Content-Type": media_type}
        ) as answer:
            return answer.status, await answer.json()


async def run(folder, kills, seed=0, tell=lambda _text: None):
    """Raise AssertionError at the first thing that should not be."""
    chance, ledger = random.Random(seed), Ledger()
    gangs = 0
    for number in range(kills):
        async with Life(folder) as life:
            works = [asyncio.create_task(_write(life, ledger, chance, who)) for who in range(WRITERS)]
            works.append(asyncio.create_task(_read(life, ledger, chance)))
            works.append(asyncio.create_task(_start_gangs(life, number)))
            await asyncio.sleep(chance.uniform(0.05, 1.2))
            life.process.send_signal(signal.SIGKILL)
            await asyncio.wait(works, timeout=10)
            for work in works:
                work.cancel()
            await asyncio.gather(*works, return_exceptions=True)
        check(folder)
        found = list(_objects(folder))
        ledger.check(dict(_numbers(found)))
        gangs += _check_gangs(found)
        if (number + 1) % 20 == 0:
            tell(
                f"{number + 1} kills: {ledger.writes} writes acknowledged, {ledger.reads} reads, {gangs} gangs bound"
            )
    return ledger, gangs


async def _write(life, ledger, chance, who):
    """Create, change and delete one object after the other, each numbered."""
    try:
        while True:
            name = f"map-{who}-{chance.randrange(NAMES_PER_WRITER)}"
            before = ledger.sent[name]
            if before and chance.random() < 0.15:
                ledger.sent[name] = 0
                status, _ = await life.ask("DELETE", f"{MAPS}/{name}")
                assert status < REFUSED, status
                # A number that was shown cannot be asked for any more.
                ledger.acknowledged[name] = ledger.shown[name] = 0
                ledger.writes += 1
                continue
            number = ledger.writes * WRITERS + who + 1 if not before else before + 1
            ledger.sent[name] = number
            data = {"data": {"number": str(number)}}
            if before:
                merge = "application/merge-patch+json"
                status, _ = await life.ask("PATCH", f"{MAPS}/{name}", data, merge)
            else:
                status, _ = await life.ask("POST", MAPS, {"metadata": {"name": name}, **data})
            assert status < REFUSED, status
            ledger.acknowledged[name] = number
            ledger.writes += 1
    except (aiohttp.ClientError, OSError):
        return


async def _read(life, ledger, chance):
    try:
        while True:
            name = f"map-{chance.randrange(WRITERS)}-{chance.randrange(NAMES_PER_WRITER)}"
            known = ledger.sent[name]
            status, found = await life.ask("GET", f"{MAPS}/{name}")
            # What has been deleted or recreated meanwhile shows nothing.
            if status < REFUSED and known and ledger.sent[name] >= known:
                ledger.shown[name] = max(ledger.shown[name], int(found["data"]["number"]))
            ledger.reads += 1
    except (aiohttp.ClientError, OSError):
        return


async def _start_gangs(life, number):
    try:
        for gang in range(GANGS):
            for kind in (PODS, GROUPS):
                await life.ask("DELETE", f"{kind}?labelSelector=life%3D{number - 2}")
            name = f"gang-{number}-{gang}"
            label = {"labels": {"life": str(number)}}
            policy = {"schedulingPolicy": {"gang": {"minCount": MEMBERS}}}
            group = {"metadata": {"name": name, **label}, "spec": policy}
            await life.ask("POST", GROUPS, group)
            await asyncio.gather(
                *(life.ask("POST", PODS, _pod(name, member, label)) for member in range(MEMBERS))
            )
    except (aiohttp.ClientError, OSError):
        return


def _pod(gang, member, label):
    requests = {"requests": {"cpu": "10m"}}
    containers = [{"name": "c", "image": "i", "resources": requests}]
    spec = {"schedulingGroup": {"podGroupName": gang}, "containers": containers}
    return {"metadata": {"name": f"{gang}-{member}", **label}, "spec": spec}


def _objects(folder):
    """All objects in the files, in the order of their keys; nothing is changed."""
    database = folder / FILE_NAME
    connection = connect_read_only(database)
    try:
        _, total = read_version(connection, database)
        for row in checked_rows(connection, database, total):
            yield row.key.resource, json.loads(row.body)
    finally:
        connection.close()


def _numbers(found):
    for resource, obj in found:
        name = obj["metadata"]["name"]
        if resource == "configmaps" and name.startswith("map-"):
            yield name, int(obj["data"]["number"])


def _check_gangs(found):
    """Return how many gangs are bound; none is in part. Pods that are being deleted count no more."""
    members = defaultdict(list)
    for resource, obj in found:
        group = obj.get("spec", {}).get("schedulingGroup", {}).get("podGroupName")
        if resource == "pods" and group and "deletionTimestamp" not in obj["metadata"]:
            members[group].append(obj["spec"].get("nodeName"))
    whole = {gang: nodes for gang, nodes in members.items() if len(nodes) == MEMBERS}
    for gang, nodes in whole.items():
        assert len([node for node in nodes if node]) in {0, MEMBERS}, f"{gang} is split: {nodes}"
    return len([nodes for nodes in whole.values() if all(nodes)])
