import asyncio
import gc
import os
import signal

import pytest

from posse.cli.problems import Problem
from posse.cli.up.examples import read_example
from posse.cli.up.run import serve, welcome
from posse.runtime.process.options import ClusterOptions


@pytest.fixture
def options(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    yield ClusterOptions(data_dir=tmp_path / "data", port=0, node_count=4)
    gc.unfreeze()


def test_it_serves_until_a_signal_and_says_what_to_try(options, capsys, monkeypatch):
    async def stop_when_the_gang_runs(cluster):
        states = []
        while states != ["Scheduled"]:
            states = [group.state for group in (await cluster.scheduling()).groups]
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.Event().wait()

    monkeypatch.setattr("posse.cli.up.run.watch_cluster", stop_when_the_gang_runs)
    serve(options, read_example("gang"))
    out = capsys.readouterr().out
    assert "is ready at https://127.0.0.1:" in out
    assert f"kubeconfig  {options.data_dir}/kubeconfig" in out
    assert out.endswith("Stopping ...\n")
    # The end of the process does not take the cluster apart.
    assert gc.get_freeze_count() > 0


def test_a_part_that_breaks_ends_it_with_a_problem(options, monkeypatch, capsys):
    async def broken(self):
        raise RuntimeError("out of order")

    monkeypatch.setattr("posse.runtime.embedded.simulated_nodes.SimulatedNodes.run", broken)
    with pytest.raises(Problem, match=r"the simulated nodes stopped working \(RuntimeError: out of order\)"):
        serve(options, [])
    assert "out of order" in capsys.readouterr().err


def test_a_file_in_the_way_is_named(options):
    options.data_dir.mkdir()
    (options.data_dir / "certificates").write_text("not a directory")
    with pytest.raises(Problem, match="certificates"):
        serve(options, [])


def test_the_welcome_gives_the_path_of_a_command_that_the_shell_does_not_find(monkeypatch, tmp_path, options):
    command = tmp_path / "posse"
    command.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert f"\n  {command} apply " in welcome("https://x", options)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "\n  posse apply " in welcome("https://x", options)


def test_the_welcome_names_the_kubeconfig_only_where_it_is_needed(tmp_path, options):
    assert f"posse get --kubeconfig {options.kubeconfig} podgroups" in welcome("https://x", options)
    plain = ClusterOptions(data_dir=tmp_path / "posse" / "default", port=0)
    assert "posse get podgroups,pods" in welcome("https://x", plain)
