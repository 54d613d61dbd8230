import logging

import pytest

from posse.runtime.process.logs import DECISIONS, log_decisions_to


@pytest.fixture
def logger():
    """The logger of decisions, put back as it was afterwards."""
    logger = logging.getLogger(DECISIONS)
    yield logger
    for handler in list(logger.handlers):
        handler.close()
        logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


def test_nobody_listens_at_first(logger):
    assert not logger.isEnabledFor(logging.INFO)


def test_lines_are_appended_to_a_file_and_go_nowhere_else(logger, tmp_path, capsys):
    path = tmp_path / "decisions.jsonl"
    path.write_text("before\n")
    log_decisions_to(str(path))
    logger.info("%s", '{"outcome":"bound"}')
    assert path.read_text() == 'before\n{"outcome":"bound"}\n'
    assert capsys.readouterr() == ("", "")


def test_a_file_that_is_moved_away_is_begun_anew(logger, tmp_path):
    path = tmp_path / "decisions.jsonl"
    log_decisions_to(str(path))
    logger.info("one")
    path.rename(tmp_path / "old")
    logger.info("two")
    assert path.read_text() == "two\n"


def test_a_dash_means_standard_output(logger, capsys):
    log_decisions_to("-")
    logger.info("%s", "100%")
    assert capsys.readouterr().out == "100%\n"


def test_standard_output_that_is_closed_stops_nothing(logger, monkeypatch, capsys):
    class Closed:
        def write(self, text):
            raise BrokenPipeError

    log_decisions_to("-")
    monkeypatch.setattr("sys.stdout", Closed())
    logger.info("lost")
    assert "BrokenPipeError" in capsys.readouterr().err


def test_a_file_that_cannot_be_opened_is_an_error(logger, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        log_decisions_to(str(tmp_path / "nowhere" / "decisions.jsonl"))
    assert logger.handlers == []
