"""posse run: what is said when it cannot begin, and what options come to mean."""

import asyncio
import socket
import ssl

import pytest
from typer.testing import CliRunner

from posse.cli.problems import Misuse, Problem
from posse.cli.run import run as verb
from posse.cli.run import start as running
from posse.cli.verbs import command_line
from posse.client.http_responses import AnswerBroken
from posse.runtime.process.logs import LogForm
from posse.runtime.process.run_options import GroupApi


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    # The log of the tests stays as it is.
    monkeypatch.setattr(running, "configure_logging", lambda *_: None)
    monkeypatch.setattr(verb, "collect_seldom", lambda: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def chosen(monkeypatch):
    """What the command line asks for, without anything being run."""
    calls = []
    monkeypatch.setattr(running, "run_scheduler", lambda *words: calls.append(words))

    def run(*words):
        result = CliRunner().invoke(command_line(["run"]), ["run", *words])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return calls[-1]

    return run


def refused(*words):
    result = CliRunner().invoke(command_line(["run"]), ["run", *words])
    assert isinstance(result.exception, Problem), result.output
    return result.exception


def test_garbage_is_looked_for_seldom_from_the_start(monkeypatch):
    calls = []
    monkeypatch.setattr(verb, "collect_seldom", lambda: calls.append("collect seldom"))
    monkeypatch.setattr(running, "_run", lambda _options: None)
    monkeypatch.setattr(running.uvloop, "run", lambda _work: calls.append("run"))
    CliRunner().invoke(command_line(["run"]), ["run"])
    assert calls == ["collect seldom", "run"]


def test_by_itself_it_stands_beside_other_schedulers(chosen):
    options, level, form = chosen()
    assert options.scheduler_names == ("posse",)
    assert (options.form, options.leader_elect, options.dry_run, options.shadow) == (
        GroupApi.AUTO,
        None,
        False,
        False,
    )
    assert (level, form) == ("INFO", LogForm.TEXT)


def test_it_takes_the_names_it_is_given(chosen):
    options, *_ = chosen(
        "--scheduler-name", "one", "--scheduler-name", "default-scheduler", "--no-leader-elect"
    )
    assert options.scheduler_names == ("one", "default-scheduler")
    assert options.leader_elect is False


@pytest.mark.parametrize("name", ["", "a b", "Posse"])
def test_names_of_schedulers_are_held_to_the_format_that_installing_holds_them_to(name):
    problem = refused("--scheduler-name", "posse", "--scheduler-name", name)
    assert isinstance(problem, Misuse)
    assert str(problem).startswith(f"--scheduler-name: {name!r}: ")


def test_it_takes_as_long_for_an_exact_search_as_it_is_told(chosen):
    options, *_ = chosen("--exact-search", "0")
    assert options.exact_search == 0


def test_a_shadow_looks_at_kube_scheduler_unless_told_otherwise(chosen):
    assert chosen("--shadow")[0].scheduler_names == ("default-scheduler",)
    assert chosen("--shadow", "--scheduler-name", "volcano")[0].scheduler_names == ("volcano",)


def test_names_come_from_the_configuration_or_from_the_command_line(tmp_path):
    problem = refused("--config", str(tmp_path / "c.yaml"), "--scheduler-name", "mine")
    assert isinstance(problem, Misuse)
    assert "--scheduler-name and --config exclude each other" in str(problem)


def test_no_cluster_anywhere_is_told_with_what_to_do(tmp_path):
    assert str(refused()) == (
        f"{tmp_path}/.kube/config: no such file; pass --kubeconfig FILE, or set $KUBECONFIG"
    )


def test_a_configuration_that_cannot_be_used_is_told(tmp_path):
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    configuration.write_text(configuration.read_text() + "leaderElection: {renewDeadline: never}\n")
    assert "leaderElection.renewDeadline: 'never' is not a duration" in str(
        refused("--config", str(configuration))
    )


@pytest.mark.parametrize("text", ["hello", "[]", "kind: Config"])
def test_a_file_that_is_no_kubeconfig_is_told_as_that(tmp_path, text):
    (tmp_path / "file").write_text(text)
    told = str(refused("--kubeconfig", str(tmp_path / "file")))
    assert told.startswith(f"{tmp_path}/file: ")
    assert "Error(" not in told


@pytest.mark.parametrize(
    ("error", "is_told"),
    [
        (ConnectionResetError("cut"), False),
        (ssl.SSLError("cut"), False),
        (AnswerBroken("cut"), False),
        (ValueError("a mistake"), True),
        (None, True),
    ],
)
def test_connections_that_break_unwatched_leave_no_traces_in_the_log(caplog, error, is_told):
    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(running.on_unclaimed_error)
        happened = {"exception": error} if error else {}
        loop.call_exception_handler({"message": "never retrieved", **happened})

    asyncio.run(main())
    assert bool(caplog.records) == is_told


@pytest.fixture
def kubeconfig(tmp_path):
    path = tmp_path / "kubeconfig"
    path.write_text(
        """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""
    )
    return str(path)


def test_a_port_that_is_taken_is_told(kubeconfig):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        problem = refused("--kubeconfig", kubeconfig, "--port", str(port), "--log-level", "error")
    assert f"127.0.0.1:{port} is already in use" in str(problem)


def test_an_address_that_is_not_of_this_machine_is_told(kubeconfig):
    problem = refused("--kubeconfig", kubeconfig, "--bind-address", "203.0.113.5", "--log-level", "error")
    assert str(problem).startswith("203.0.113.5:10259: ")
    assert str(problem).endswith("use another --bind-address or --port")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("leaderworkersets, jobsets", ("jobsets", "leaderworkersets")),
        ("all", ("jobsets", "leaderworkersets")),
        ("jobsets", ("jobsets",)),
        ("", ()),
    ],
)
def test_controllers_are_chosen_by_name(chosen, text, meant):
    options, *_ = chosen("--controllers", text)
    assert (options.controllers, options.schedules, options.volumes) == (meant, True, True)
    apart, *_ = chosen("--controllers", text or "all", "--only-controllers", "--without-volumes")
    assert (apart.schedules, apart.volumes) == (False, False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--controllers", "jobsets,jobs"],
            "--controllers: 'jobs' is not one of jobsets, leaderworkersets, all",
        ),
        (["--only-controllers"], "--only-controllers needs --controllers"),
        (["--controllers", "all", "--dry-run"], "--controllers creates and deletes objects"),
        (["--controllers", "all", "--shadow"], "--controllers creates and deletes objects"),
        (["--controllers", "all", "--form", "native"], "--controllers leaderworkersets needs groups of"),
    ],
)
def test_controllers_that_cannot_be_are_refused(words, told):
    assert str(refused(*words)).startswith(told)
