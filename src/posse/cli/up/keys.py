"""Keys that are pressed on the terminal while the live view is shown."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_MAX_BYTES = 64
_ESCAPE = "\x1b"


@contextmanager
def watching_keys(on_key: Callable[[str], None]) -> Iterator[bool]:
    """Report each key. Whether that is possible: standard input may be no terminal."""
    if not sys.stdin.isatty():
        yield False
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()
    # Ctrl-C still interrupts in this mode.
    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, lambda: _read(descriptor, on_key))
    try:
        yield True
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read(descriptor: int, on_key: Callable[[str], None]) -> None:
    text = os.read(descriptor, _MAX_BYTES).decode(errors="replace")
    # An arrow key arrives as several characters at once.
    for key in [text] if text.startswith(_ESCAPE) else text:
        on_key(key)
