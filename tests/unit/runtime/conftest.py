"""A cluster in memory with nothing running in it: API service, committer and transport, and time to wait."""

import asyncio
import random
import time

import pytest

from posse.apiserver.committer import Committer
from posse.apiserver.local import LocalTransport
from posse.apiserver.service import ApiService
from posse.controllers.pod_admission import complete_new_pod
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import POD
from posse.runtime.embedded.bootstrap import bootstrap_objects, create_missing
from posse.store.store import Store

PATIENCE_SECONDS = 10.0


class Lab:
    """What a test has at hand while the event loop runs."""

    def __init__(self):
        self.store = Store()
        self.committer = Committer(self.store)
        self.service = ApiService(self.store, time.time, random.Random(5), admission={POD: complete_new_pod})
        self.transport = LocalTransport(self.service, self.committer)

    def find(self, kind, namespace, name):
        try:
            return self.service.get(kind, namespace, name)
        except ApiError:
            return None

    async def until(self, condition):
        """Wait until the condition gives something true and return that."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            await asyncio.sleep(0.005)
        raise TimeoutError("what the test waits for did not happen")


@pytest.fixture
def in_lab():
    """Run `scenario(lab)` while `run(lab)` goes on in the background."""

    def drive(scenario, background=None):
        async def main():
            lab = Lab()
            await create_missing(lab.transport, bootstrap_objects())
            running = asyncio.create_task(background(lab)) if background else None
            try:
                await scenario(lab)
                if running and running.done():
                    running.result()
            finally:
                if running:
                    running.cancel()
                    await asyncio.wait([running])
                await lab.committer.close()

        asyncio.run(main())

    return drive
