"""How memory that is no longer used goes back to the system.

The allocator of glibc learns from every large block that is freed to keep larger ones for later. After a
burst of large objects, what they took stays with the process. With a fixed threshold it goes back at once.
"""

import ctypes

# From malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_LARGE_BYTES = 64 * 1024
_KEPT_BYTES = 128 * 1024
_ARENAS = 2


def return_memory() -> None:
    """Other allocators than that of glibc are left as they are."""
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is None:
        return
    tune(_M_MMAP_THRESHOLD, _LARGE_BYTES)
    tune(_M_TRIM_THRESHOLD, _KEPT_BYTES)
    tune(_M_ARENA_MAX, _ARENAS)
