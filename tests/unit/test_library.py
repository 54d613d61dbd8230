"""The Python face: the example of the guide runs, and answers are those of the commands."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import posse
from posse.cli.problems import Problem
from posse.library import Cluster, ClusterChanges, Overrides, TracedJob, plan, simulate, write_report
from tests.support import posse_command

ROOT = Path(__file__).parents[2]
GANG = (ROOT / "examples/gang-too-big.yaml").read_text()


def test_the_example_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(ROOT / "examples/python/racks.py"), run_name="__main__")
    assert capsys.readouterr().out in (ROOT / "docs/guides/python.md").read_text()


def test_the_package_itself_has_the_three_names_and_no_other():
    assert posse.plan is plan
    assert posse.simulate is simulate
    assert posse.Cluster is Cluster
    with pytest.raises(AttributeError, match="no attribute 'forecast'"):
        _ = posse.forecast


def test_importing_the_package_loads_nothing():
    code = "import posse, sys; sys.exit('posse.cli' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_plan_says_why_and_what_would_help():
    cluster = Cluster.of_equal_nodes(8)
    answer = plan(cluster, GANG)
    assert answer.outcome == "waits"
    assert "5 more" not in answer.submitted[0].why
    assert any("1 more node" in change for change in answer.submitted[0].changes)
    assert plan(cluster, GANG, changes=ClusterChanges(add_nodes=("1=node-0001",))).outcome == "starts"
    assert plan(cluster, GANG, overrides=Overrides(min_count=8)).submitted[0].placed == 8


def test_a_simulation_is_the_one_of_the_command(tmp_path):
    trace = ROOT / "examples/traces/day.csv"
    result = simulate(trace, Cluster.of_equal_nodes(8), policies=["fifo"])
    told = posse_command.posse(
        "posse", "simulate", str(trace), "--nodes", "8", "--policy", "fifo", "-o", "json"
    )
    assert result.runs[0].record.digest in told
    write_report(tmp_path / "out", result)
    assert (tmp_path / "out/report.html").exists()


def test_jobs_made_by_a_program_are_simulated():
    jobs = [TracedJob("late", 50, 10, 1, 8), TracedJob("gang", 0, 100, 2, 8)]
    result = simulate(jobs, Cluster.of_equal_nodes(2), policies=["fifo"])
    assert {one.job.name: one.start for one in result.runs[0].record.jobs} == {"gang": 0, "late": 100}


def test_manifests_are_a_trace_too():
    trace = ROOT / "examples/traces/arrivals.yaml"
    result = simulate(trace, Cluster.of_equal_nodes(4), policies=["fifo"])
    assert result.nodes == 4
    assert result.runs[0].figures.started == 3


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: plan(Cluster.of_equal_nodes(1)), "give manifests, or changes"),
        (lambda: plan(Cluster.of_equal_nodes(1), "missing.yaml"), "missing.yaml: no such file"),
        (lambda: simulate([], Cluster.of_equal_nodes(1), policies=["best"]), "'best' is none of"),
        (lambda: simulate([], Cluster.of_equal_nodes(1), load=2.0), "load and window are for files"),
        (lambda: simulate([], Cluster.of_equal_nodes(1)), "there are no jobs in it"),
        (lambda: Cluster.of_equal_nodes(4, topology="rack"), "--topology"),
        (lambda: Cluster.of_equal_nodes(0), "at least one of each"),
        (lambda: Cluster.of_equal_nodes(1, gpus=-1), "at least one of each"),
    ],
)
def test_what_cannot_be_used_is_named(ask, says):
    with pytest.raises(Problem, match=says):
        ask()
