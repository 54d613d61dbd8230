"""How memory that is no longer used goes back to the system.

The allocator of glibc learns from every large block that is freed to keep larger ones for later. After a
burst of large objects, what they took stays with the process. With a fixed threshold it goes back at once.
"""

import ctypes

# From malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
LARGE_BYTES = 64 * 1024
LARGE_SERVER_BYTES = 320 * 1024
"""For a process that serves TLS: each read of a connection takes 256 KiB for a moment, and to ask the system
for that takes longer than the read. Smaller blocks go back with the next call.
"""
# The most that the allocator would learn by itself.
_LEARNED_LARGE_BYTES = 32 * 1024 * 1024
_ARENAS = 2


def return_memory(large_bytes: int = LARGE_BYTES) -> None:
    """Return unused memory to the system: all of it now, and large blocks from now on.

    Other allocators than that of glibc are left as they are. A process that reads a whole cluster calls it
    afterwards: large blocks come and go all the time then, and to ask the system for each takes a quarter of
    the time that reading takes. It may take a while, and threads that allocate wait meanwhile.
    """
    if _set_thresholds(large_bytes, 2 * large_bytes):
        ctypes.CDLL(None).malloc_trim(0)


def keep_memory() -> None:
    """Keep unused memory until `return_memory` is called: it is needed again soon."""
    _set_thresholds(_LEARNED_LARGE_BYTES, 2 * _LEARNED_LARGE_BYTES)


def _set_thresholds(large_bytes: int, kept_bytes: int) -> bool:
    """Return whether the allocator is that of glibc."""
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is None:
        return False
    tune(_M_MMAP_THRESHOLD, large_bytes)
    tune(_M_TRIM_THRESHOLD, kept_bytes)
    tune(_M_ARENA_MAX, _ARENAS)
    return True
