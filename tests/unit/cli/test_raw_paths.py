"""posse get --raw: what the server says at a path, untouched; and posse up with a log it cannot write."""

import pytest
from typer.testing import CliRunner

from posse.cli.client import Refused
from posse.cli.problems import Misuse, Problem
from posse.cli.verbs import command_line
from tests.support.live_server import running_server


@pytest.fixture
def kubeconfig(tmp_path):
    with running_server(tmp_path / "server") as server:
        yield str(server.kubeconfig)


def posse(*words):
    return CliRunner().invoke(command_line(list(words)), words)


@pytest.mark.parametrize("path", ["/healthz", "healthz"])
def test_the_answer_is_printed_as_it_is(kubeconfig, path):
    assert posse("get", "--kubeconfig", kubeconfig, "--raw", path).stdout == "ok"


def test_a_refusal_is_told_in_the_words_of_the_server(kubeconfig):
    result = posse("get", "--kubeconfig", kubeconfig, "--raw", "/no/such/path")
    assert isinstance(result.exception, Refused)
    assert result.exception.code == 404


@pytest.mark.parametrize(("words", "hint"), [((), "posse get pods"), (("pods", "--raw", "/x"), "--raw PATH")])
def test_what_to_show_is_said_once(words, hint):
    result = posse("get", *words)
    assert isinstance(result.exception, Misuse)
    assert hint in str(result.exception)


def test_a_decision_log_that_cannot_be_written_is_told_before_anything_starts(tmp_path):
    missing = tmp_path / "nowhere" / "log"
    result = posse("up", "--data-dir", str(tmp_path / "data"), "--log-decisions", str(missing))
    assert isinstance(result.exception, Problem)
    assert str(result.exception) == f"--log-decisions: {missing}: no such file or directory"
    assert not (tmp_path / "data").exists()
