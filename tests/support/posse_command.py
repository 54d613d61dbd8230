"""The posse command called in this process: a process of its own costs seconds of imports."""

import contextlib
import io
import sys
from pathlib import Path
from unittest.mock import patch

from posse.cli.main import main

ROOT = Path(__file__).parents[2]


def posse(*words, codes=(0,), **environment):
    """Return what the command prints. AssertionError: it fails, with everything it printed."""
    output, errors = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", list(map(str, words))),
        patch.dict("os.environ", {"COLUMNS": "80", "NO_COLOR": "1"} | environment),
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
    assert (code or 0) in codes, f"{words}: {output.getvalue()}{errors.getvalue()}"
    return output.getvalue()
