"""How all tests run: how many examples they try, in which order, and how many at a time."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

from tests.support.effort import PROFILE

WORKERS_BESIDE_CORES = 2
"""Tests that start processes, or wait for a clock, leave a core idle in the meantime."""
NEW_OBJECTS_PER_COLLECTION = 50_000
LONG_FOLDERS = ("tests/simulation/", "tests/scenarios/", "tests/properties/")

gc.set_threshold(NEW_OBJECTS_PER_COLLECTION)
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=12)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, max_examples=2000)
settings.load_profile(PROFILE)


@pytest.hookimpl(wrapper=True)
def pytest_xdist_auto_num_workers():
    return (yield) + WORKERS_BESIDE_CORES


def pytest_collection_modifyitems(items):
    """Give every worker of pytest-xdist as many long tests as the others, and let it begin with those.

    With `--dist worksteal` worker number i begins with the i-th part of the list. Short tests come last, so that workers
    end together. Tests of one file stay together, as they may share a server.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    files = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    long_files = sorted(filter(_is_long, files), key=_folder_rank)
    shares = [
        [item for name in long_files[start::workers] for item in files[name]] for start in range(workers)
    ]
    short = [item for name in files if not _is_long(name) for item in files[name]]
    length = -(-len(items) // workers)
    for share in shares:
        missing = max(0, length - len(share))
        share.extend(short[:missing])
        del short[:missing]
    items[:] = [item for share in shares for item in share]


def pytest_collection_finish():
    """Spare the garbage collector what was imported and collected: it stays until the end."""
    gc.collect()
    gc.freeze()


def _is_long(name):
    return name.startswith(LONG_FOLDERS)


def _folder_rank(name):
    return next(rank for rank, folder in enumerate(LONG_FOLDERS) if name.startswith(folder))
