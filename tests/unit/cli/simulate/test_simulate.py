"""`posse simulate` on the command line: table, data, report, and what it refuses."""

import gzip
import json

import pytest

from tests.support import posse_command

ROWS = "job,submit_s,duration_s,gpus\nlong,0,100,8\ngang,1,10,16\nshort,2,10,8\nhuge,3,10,160\n"


def simulate(*words):
    return posse_command.posse("posse", "simulate", *words)


def refused(*words):
    """What it says when it fails."""
    with pytest.raises(AssertionError) as failed:
        simulate(*words)
    return " ".join(str(failed.value).split())


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(ROWS.encode()))
    return str(path)


def test_policies_stand_side_by_side(trace):
    told = simulate(trace, "--nodes", "2", "--policy", "fifo", "--policy", "greedy")
    lines = told.splitlines()
    assert lines[0].startswith("3 jobs on 2 nodes with 16 GPUs")
    assert lines[2].split()[:2] == ["POLICY", "STARTED"]
    assert [line.split()[:2] for line in lines[3:5]] == [["fifo", "3/3"], ["greedy", "3/3"]]
    assert "1 jobs do not fit on the empty cluster, and were left out: huge (160 GPUs)" in told
    assert "fifo and greedy first differ over job short (8 GPUs)" in told


def test_results_are_written_as_data_and_as_one_page(trace, tmp_path):
    out = tmp_path / "out"
    told = simulate(trace, "--nodes", "2", "--policy", "fifo", "--out", out, "-o", "json")
    data = json.loads(told)
    assert data == json.loads((out / "result.json").read_text())
    (policy,) = data["policies"]
    assert policy["figures"]["meanWait"] == pytest.approx((0 + 99 + 108) / 3, abs=1e-5)
    assert data["oversizedJobs"] == ["huge"]
    page = (out / "report.html").read_text()
    assert "<h2>Waiting times</h2>" in page
    assert "<script src" not in page


def test_names_of_jobs_are_never_markup(tmp_path):
    trace = tmp_path / "hostile.csv"
    trace.write_text("job,submit_s,duration_s,gpus\n<img src=x onerror=alert(1)>,0,10,1\n")
    out = tmp_path / "out"
    simulate(trace, "--out", out)
    assert "<img src=x" not in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy", "magic"], "--policy: 'magic' is none of"),
        (["--load", "0"], "--load: 0 is not a factor above 0"),
        (["--window", "5"], "--window: '5' should be FROM:TO"),
        (["--topology", "rack"], "--topology:"),
        (["--gangs-in", "rack"], "--gangs-in: no node has the label"),
        (["--nodes", "1", "--window", "900:901"], "no job with GPUs fits"),
    ],
)
def test_what_makes_no_sense_is_refused(trace, words, message):
    assert message in refused(trace, *words)


def test_a_broken_file_is_named(tmp_path):
    broken = tmp_path / "jobs.csv.gz"
    broken.write_bytes(gzip.compress(ROWS.encode())[:-9])
    assert f"{broken} cannot be read" in refused(str(broken))
    assert "cannot be read" in refused(str(tmp_path / "missing.csv"))
