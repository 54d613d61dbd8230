"""The posse command with a clock that is so many seconds off: python skewed_clock.py SECONDS WORDS..."""

import sys
import time

_REAL = time.time


def main() -> None:
    seconds = float(sys.argv.pop(1))
    time.time = lambda: _REAL() + seconds
    # Only now, so that nothing has read the clock before.
    from posse.cli.main import main as posse  # noqa: PLC0415

    posse()


if __name__ == "__main__":
    main()
