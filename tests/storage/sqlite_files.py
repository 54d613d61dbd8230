"""What SQLite does to its files, seen and spoiled on the way: a file layer (VFS) between it and the system.

The layer is the usual one of Unix with writing, truncating and syncing replaced. Python has no interface for
that, so it is registered in the library that Python's sqlite3 has loaded.
"""

import ctypes
import sqlite3
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path

OK = 0
_ANY = c_void_p


class _Methods(Structure):
    """struct sqlite3_io_methods."""


class _File(Structure):
    _fields_ = [("methods", POINTER(_Methods))]


_Write = CFUNCTYPE(c_int, POINTER(_File), c_void_p, c_int, c_int64)
_Truncate = CFUNCTYPE(c_int, POINTER(_File), c_int64)
_Sync = CFUNCTYPE(c_int, POINTER(_File), c_int)
_Methods._fields_ = [
    ("version", c_int),
    ("close", _ANY),
    ("read", _ANY),
    ("write", _Write),
    ("truncate", _Truncate),
    ("sync", _Sync),
    *((name, _ANY) for name in ("size", "lock", "unlock", "reserved", "control", "sector", "device")),
    *((name, _ANY) for name in ("map", "shm_lock", "barrier", "unmap", "fetch", "unfetch")),
]


class _Layer(Structure):
    """struct sqlite3_vfs."""


_Open = CFUNCTYPE(c_int, POINTER(_Layer), c_void_p, POINTER(_File), c_int, POINTER(c_int))
_Layer._fields_ = [
    ("version", c_int),
    ("file_size", c_int),
    ("longest_path", c_int),
    ("next", _ANY),
    ("name", c_char_p),
    ("data", _ANY),
    ("open", _Open),
    *((name, _ANY) for name in ("delete", "access", "full_path", "dl_open", "dl_error", "dl_symbol")),
    *((name, _ANY) for name in ("dl_close", "randomness", "sleep", "time", "last_error", "time64")),
    *((name, _ANY) for name in ("set_call", "get_call", "next_call")),
]


class LayerUnavailable(Exception):  # noqa: N818 - it names what is the matter
    """SQLite is built into this Python, where no other file layer can be registered."""


class FileLayer:
    """`disk` is told of every write, truncation and sync, and answers with a code of SQLite: 0 lets it happen."""

    def __init__(self, disk):
        self._disk = disk
        self._paths = {}
        self._library = ctypes.CDLL(_loaded_library())
        self._library.sqlite3_vfs_find.restype = POINTER(_Layer)
        self._usual = self._library.sqlite3_vfs_find(None)
        self._methods = {}
        self._layer = _Layer.from_buffer_copy(self._usual.contents)
        self._layer.name = b"posse-faulty"
        self._layer.open = self._kept_open = _Open(self._open)

    def __enter__(self):
        self._library.sqlite3_vfs_register(ctypes.byref(self._layer), 1)
        return self

    def __exit__(self, *_error):
        self._library.sqlite3_vfs_unregister(ctypes.byref(self._layer))
        self._library.sqlite3_vfs_register(self._usual, 1)

    def _open(self, _layer, name, file, flags, flags_out):
        code = self._usual.contents.open(self._usual, name, file, flags, flags_out)
        if code == OK and name:
            self._paths[ctypes.addressof(file.contents)] = Path(ctypes.string_at(name).decode()).name
            file.contents.methods = ctypes.pointer(self._spoiled(file.contents.methods))
        return code

    def _spoiled(self, usual):
        address = ctypes.addressof(usual.contents)
        if address not in self._methods:
            methods = _Methods.from_buffer_copy(usual.contents)
            write, truncate, sync = usual.contents.write, usual.contents.truncate, usual.contents.sync
            methods.write = _Write(
                lambda file, data, size, at: (
                    self._disk.write(self._name(file), at, ctypes.string_at(data, size))
                    or write(file, data, size, at)
                )
            )
            methods.truncate = _Truncate(
                lambda file, size: self._disk.truncate(self._name(file), size) or truncate(file, size)
            )
            methods.sync = _Sync(lambda file, flags: self._disk.sync(self._name(file)) or sync(file, flags))
            self._methods[address] = methods
        return self._methods[address]

    def _name(self, file):
        return self._paths[ctypes.addressof(file.contents)]


def _loaded_library():
    sqlite3.connect(":memory:").close()
    maps = Path("/proc/self/maps")
    for line in maps.read_text().splitlines() if maps.exists() else ():
        if "libsqlite3" in line:
            return line.split()[-1]
    raise LayerUnavailable
