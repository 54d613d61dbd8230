"""`python -m bench --help` says what it does instead of doing it."""

import sys

import pytest

from bench.__main__ import main


def test_help_measures_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert "Measuring" not in capsys.readouterr().out
