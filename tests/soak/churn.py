"""Objects that come, change and go without end: gangs that run and end, Jobs, large ConfigMaps, resource names."""

import asyncio
import contextlib
import json
import time

from tests.fuzz.http_requests import Server

DEFAULT = "/namespaces/default"
PODS = f"/api/v1{DEFAULT}/pods"
MAPS = f"/api/v1{DEFAULT}/configmaps"
JOBS = f"/apis/batch/v1{DEFAULT}/jobs"
GROUPS = f"/apis/scheduling.k8s.io/v1beta1{DEFAULT}/podgroups"
WORKERS = 3
MEMBERS = 8
LARGE = "x" * 100_000
WARM_ROUNDS = 5
SETTLED_SECONDS = 390.0
"""Past states are kept for five minutes."""


class SoakServer(Server):
    def file_mb(self):
        files = (self._folder / "data").glob("*")
        return sum(file.stat().st_size for file in files if file.is_file()) / 2**20


@contextlib.asynccontextmanager
async def ready_server(folder):
    async with SoakServer(folder) as server:
        yield server


class Churn:
    def __init__(self, server, pause):
        self._server = server
        self._pause = pause
        self._waits = []
        self.rounds = 0

    async def warm_up(self):
        for _ in range(WARM_ROUNDS):
            await self._round(0)

    @contextlib.asynccontextmanager
    async def under_way(self):
        works = [asyncio.create_task(self._work(number)) for number in range(WORKERS)]
        works.append(asyncio.create_task(self._probe()))
        try:
            yield
        finally:
            for work in works:
                work.cancel()
            ends = await asyncio.gather(*works, return_exceptions=True)
            for end in ends:
                if not isinstance(end, asyncio.CancelledError):
                    raise end

    def take_waits(self):
        """Seconds that reads took since the last call."""
        waits, self._waits = self._waits, []
        return waits

    async def clean_up(self):
        for path in (PODS, JOBS, GROUPS, MAPS):
            await self._send("DELETE", path)
        await asyncio.sleep(SETTLED_SECONDS)

    async def _work(self, worker):
        while True:
            await self._round(worker)
            await asyncio.sleep(self._pause)

    async def _round(self, worker):
        self.rounds += 1
        name = f"churn-{worker}-{self.rounds}"
        await self._gang(name)
        job = {
            "parallelism": 3,
            "completions": 3,
            "template": {"spec": _pod_spec({}) | {"restartPolicy": "Never"}},
        }
        await self._send("POST", JOBS, {"metadata": {"name": name}, "spec": job})
        await self._send("POST", MAPS, {"metadata": {"name": name}, "data": {"a": LARGE}})
        for number in range(3):
            await self._send(
                "PATCH", f"{MAPS}/{name}", {"data": {"a": f"{number}{LARGE}"}}, "merge-patch+json"
            )
        for path in (f"{MAPS}/{name}", f"{JOBS}/{name}?propagationPolicy=Background"):
            await self._send("DELETE", path)
        await self._send("DELETE", f"{PODS}?labelSelector=gang%3D{name}")
        await self._send("DELETE", f"{GROUPS}/{name}")

    async def _gang(self, name):
        """Every third round has a resource name of its own."""
        odd = {f"example.com/r{self.rounds}": "1"} if self.rounds % 3 == 0 else {}
        policy = {"schedulingPolicy": {"gang": {"minCount": MEMBERS}}}
        await self._send("POST", GROUPS, {"metadata": {"name": name}, "spec": policy})
        spec = _pod_spec(odd) | {"schedulingGroup": {"podGroupName": name}}
        pods = [
            {"metadata": {"name": f"{name}-{number}", "labels": {"gang": name}}, "spec": spec}
            for number in range(MEMBERS)
        ]
        await asyncio.gather(*(self._send("POST", PODS, pod) for pod in pods))

    async def _probe(self):
        while True:
            started = time.monotonic()
            await self._send("GET", "/api/v1/namespaces/default")
            self._waits.append(time.monotonic() - started)
            await asyncio.sleep(0.05)

    async def _send(self, method, path, body=None, media_type="json"):
        async with self._server.session.request(
            method,
            self._server.url + path,
            data=None if body is None else json.dumps(body),
            headers={"Content-Type": f"application/{media_type}"},
        ) as answer:
            text = await answer.read()
        assert answer.status < 500, f"{method} {path}: {answer.status} {text[:500]}"


def _pod_spec(requests):
    resources = {"requests": {"cpu": "10m"} | requests, "limits": requests}
    return {"containers": [{"name": "c", "image": "i", "resources": resources}]}
