"""Flipped bits in the files of a store whose process was killed: each is found at the next start, or harmless."""

import random
import shutil

from posse.store.commit_mark import FILE_NAME as MARK
from posse.store.errors import DataDirError
from posse.store.journal import FILE_NAME
from posse.store.objects import Key
from posse.store.store import ABSENT, Store

LOG = f"{FILE_NAME}-wal"


def key(name):
    return Key("pods", "default", name)


def put(store, name, text):
    old = store.get(key(name))
    obj = {"metadata": {"name": name}, "spec": {"text": text}}
    return store.put(key(name), obj, old.version if old else ABSENT)


def contents(store):
    return {stored.obj["metadata"]["name"]: stored.encoded for stored in store.list("pods")}


def crashed_directory(folder):
    """Make a directory as a killed process leaves it, part of the writes in the file, part in the log.

    Return it and what it holds.
    """
    living = folder / "living"
    store = Store.open(living)
    for number in range(120):
        put(store, f"pod-{number:04}", "x" * 300)
        store.commit_pending()
    store._journal._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(60, 180):
        put(store, f"pod-{number:04}", "y" * 300)
        store.commit_pending()
    shutil.copytree(living, folder / "crashed")
    expected = contents(store)
    store.close()
    return folder / "crashed", expected


def flip_many(folder, count, seed):
    """Flip one bit of a copy, so many times. Return how many of them were found; the others did no harm."""
    crashed, expected = crashed_directory(folder)
    chance, found, copy = random.Random(seed), 0, folder / "copy"
    for _ in range(count):
        shutil.copytree(crashed, copy)
        path = copy / chance.choice([FILE_NAME, LOG, LOG, MARK])
        _flip(path, chance.randrange(path.stat().st_size), chance.randrange(8))
        try:
            store = Store.open(copy)
        except DataDirError:
            found += 1
        else:
            assert contents(store) == expected, path.name
            store.close()
        shutil.rmtree(copy)
    return found


def _flip(path, position, bit):
    with path.open("r+b") as file:
        file.seek(position)
        (byte,) = file.read(1)
        file.seek(position)
        file.write(bytes([byte ^ (1 << bit)]))
