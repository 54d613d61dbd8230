import json
import logging
import sys

from posse.runtime.process.logs import StandardErrorHandler, as_json, as_key_values


def record(message, *args, exc_info=None):
    made = logging.LogRecord("posse.part", logging.WARNING, "file", 1, message, args, exc_info)
    made.created = 0.5
    return made


def test_a_record_is_one_line_of_pairs():
    line = as_key_values(record("the %s failed", "disk"))
    assert (
        line == 'time=1970-01-01T00:00:00.500000Z level=warning logger=posse.part message="the disk failed"'
    )


def test_line_breaks_in_a_message_do_not_break_the_line():
    assert as_key_values(record("one\ntwo")).count("\n") == 0


def test_a_traceback_follows_its_line():
    try:
        int("broken")
    except ValueError:
        line = as_key_values(record("it", exc_info=sys.exc_info()))
    first, *rest = line.splitlines()
    assert first.endswith("message=it")
    assert rest[-1].startswith("ValueError: ")


def test_lines_go_to_standard_error_as_it_is_at_that_moment(capsys):
    handler = StandardErrorHandler(as_key_values)
    handler.emit(record("now"))
    assert capsys.readouterr().err.endswith("message=now\n")


def test_programs_get_json():
    try:
        int("broken")
    except ValueError:
        line = json.loads(as_json(record("it", exc_info=sys.exc_info())))
    assert (line["level"], line["message"]) == ("warning", "it")
    assert line["trace"].splitlines()[-1].startswith("ValueError: ")
    assert "trace" not in json.loads(as_json(record("it")))
