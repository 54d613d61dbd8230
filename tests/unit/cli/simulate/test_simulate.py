"""`posse simulate` on the command line: table, data, report, and what it refuses."""

import gzip
import json
import os
import re
import subprocess
import sys

import pytest

from posse.cli.reading.snapshot_file import Listed, new_header, write_snapshot
from posse.cli.simulate.simulate import POLICIES
from posse.kinds.registry import NODE
from tests.support import posse_command
from tests.support.effort import some_of

ROWS = "job,submit_s,duration_s,gpus\nlong,0,100,8\ngang,1,10,16\nshort,2,10,8\nhuge,3,10,160\n"

DAY = posse_command.ROOT / "examples" / "traces" / "day.csv"


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
    assert "1 job does not fit on the empty cluster, and is left out: huge (160 GPUs)" in told
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
    assert "1 job does not fit on the empty cluster, and is left out: huge (160 GPUs)" in page
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
        (["--nodes", "1", "--window", "900:901"], "no job arrives in --window 900:901"),
    ],
)
def test_what_makes_no_sense_is_refused(trace, words, message):
    assert message in refused(trace, *words)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--nodes", "8", "--snapshot", "c"], ["--nodes", "--snapshot"]),
        (["--nodes", "2", "--node-list", "n.csv"], ["--nodes", "--node-list"]),
        (["--snapshot", "c", "--node-list", "n.csv"], ["--node-list", "--snapshot"]),
        (["--kubeconfig", "k", "--snapshot", "c"], ["--snapshot", "--kubeconfig"]),
        (["--kubeconfig", "k", "--topology", "rack=2"], ["--topology", "--kubeconfig"]),
        (["--policy", "fifo", "--policy", "fifo"], ["--policy fifo", "--policy fifo"]),
        (["--config", "a.yaml", "--config", "a.yaml"], ["--config a.yaml", "--config a.yaml"]),
    ],
)
def test_options_that_contradict_or_repeat_each_other_are_refused(posse, trace, words, named):
    told = posse("simulate", trace, *words)
    assert told.code == 2
    assert told.err.startswith(f"Error: {named[0]} and {named[1]}")


@pytest.mark.parametrize(
    ("text", "problem"),
    [("soon", "is not a duration such as 90m or 1h30m"), ("0s", "is not between 1ns and ten years")],
)
def test_a_minimum_run_time_that_makes_no_sense_is_refused(posse, trace, text, problem):
    told = posse("simulate", trace, "--nodes", "2", "--minimum-run-time", text)
    assert told.code == 2
    assert f"--minimum-run-time: {text!r} {problem}" in told.err


def test_configurations_of_one_name_are_told_apart(trace, tmp_path):
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    paths = [tmp_path / folder / "rules.yaml" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(text)
    words = [word for path in paths for word in ("--config", path)]
    data = json.loads(simulate(trace, "--nodes", "2", *words, "-o", "json"))
    assert [policy["policy"] for policy in data["policies"]] == [str(path) for path in paths]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "there are no jobs in it"),
        (["a,0,10,0", "b,1,10,0"], "no job is left: 2 jobs without GPUs are left out: lines 2, 3"),
        (["a,0,10,64"], "no job fits on the cluster of 2 nodes with 16 GPUs; the smallest asks for 64 GPUs"),
    ],
)
def test_a_trace_without_anything_to_run_says_why(tmp_path, rows, message):
    trace = tmp_path / "jobs.csv"
    trace.write_text("\n".join(["job,submit_s,duration_s,gpus", *rows]) + "\n")
    assert f"{trace}: {message}" in refused(trace, "--nodes", "2")


def test_jobs_without_a_run_time_are_listed(tmp_path):
    trace = tmp_path / "jobs.swf"
    known, unknown = (f"{{}} {{}} 5 {run} 4 -1 -1 4 -1 -1 1 3 -1 -1 2 -1 -1 -1\n" for run in (60, -1))
    trace.write_text("; a comment\n" + known.format(1, 0) + unknown.format(2, 10) + unknown.format(3, 900))
    assert "2 jobs without a run time are left out: lines 3, 4" in simulate(trace)
    assert "1 job without a run time is left out: line 3" in simulate(trace, "--window", "0:100")
    data = json.loads(simulate(trace, "-o", "json"))
    assert data["leftOutJobs"] == {"without a run time": 2}


def test_nodes_of_a_running_cluster(posse, trace, kubeconfig):
    told = posse("simulate", trace, "--kubeconfig", kubeconfig)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("3 jobs on 2 nodes with 16 GPUs")


def test_a_broken_file_is_named(tmp_path):
    broken = tmp_path / "jobs.csv.gz"
    broken.write_bytes(gzip.compress(ROWS.encode())[:-9])
    assert f"{broken} cannot be read" in refused(str(broken))
    assert "missing.csv: no such file or directory" in refused(str(tmp_path / "missing.csv"))


def test_samples_print_confidence_intervals(trace):
    told = simulate(trace, "--nodes", "2", "--policy", "fifo", "--policy", "greedy", "--samples", "3")
    lines = told.splitlines()
    begin = lines.index("Over 3 samples, with 95 % confidence:")
    assert lines[begin + 1].split()[-1] == "FIFO"
    assert [line.split()[0] for line in lines[begin + 2 : begin + 4]] == ["fifo", "greedy"]
    assert all("±" in line for line in lines[begin + 2 : begin + 4])


def test_the_report_shows_confidence_tenants_racks_and_evictions(tmp_path):
    trace, out = tmp_path / "jobs.csv", tmp_path / "out"
    trace.write_text(
        "job,submit_s,duration_s,gpus,user,priority\n"
        "low,0,400,16,ann,0\nhigh,100,50,16,bob,10\nsmall,120,10,8,ann,0\n"
    )
    words = ("--nodes", "2", "--topology", "rack=2", "--policy", "posse", "--policy", "fifo")
    simulate(trace, *words, "--samples", "3", "--jitter", "5", "--out", out)
    page = (out / "report.html").read_text()
    titles = re.findall("<h2>(.*?)</h2>", page)
    assert {"Over samples", "Waiting times by tenant", "Stranded GPUs", "Jobs on racks"} <= set(titles)
    assert "Evicted GPU hours" in page
    assert "ann (2 jobs)" in page
    assert "fifo against posse" in page
    assert "GPUs on rack-1, node-0001, evicted" in page
    first, second = json.loads((out / "result.json").read_text())["policies"]
    assert first["confidence"]["meanWait"]["margin"] > 0
    assert "againstFirst" not in first
    mean = second["confidence"]["meanWait"]["mean"] - first["confidence"]["meanWait"]["mean"]
    assert second["againstFirst"]["meanWait"]["mean"] == pytest.approx(mean, abs=1e-4)


def test_without_racks_and_tenants_the_report_shows_nodes(trace, tmp_path):
    simulate(trace, "--nodes", "2", "--out", tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "<h2>Jobs on nodes</h2>" in page
    assert "by tenant" not in page
    assert "Over samples" not in page


def test_tables_fit_a_terminal_of_80_columns(trace):
    policies = [word for name in POLICIES for word in ("--policy", name)]
    told = simulate(trace, "--nodes", "2", *policies, "--samples", "3", "--forecasts")
    rows = [line for line in told.splitlines() if "   " in line]
    assert len(rows) == 4 * (1 + len(POLICIES))
    assert max(map(len, rows)) <= 80
    assert "HOURS LOST   STRANDED" in told


@pytest.fixture
def day(tmp_path):
    """A day of jobs, or where tests should be quick its first hours."""
    path = tmp_path / "day.csv"
    path.write_text("".join(some_of(DAY.read_text().splitlines(keepends=True), 61)))
    return str(path)


def digests(day, hash_seed, seed):
    """Of every run of the jobs, in a process of its own."""
    words = ("--nodes", "8", "--policy", "posse", "--policy", "greedy", "--samples", "2", "--failures", "5:4")
    done = subprocess.run(
        [sys.executable, "-m", "posse", "simulate", day, *words, "--seed", seed, "-o", "json"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    return [one["digest"] for policy in json.loads(done.stdout)["policies"] for one in policy["samples"]]


def test_an_equal_seed_gives_equal_digests_under_two_hash_seeds(day):
    found = digests(day, "1", "5")
    assert len(set(found)) == 4
    assert digests(day, "2", "5") == found
    assert digests(day, "1", "6") != found


def test_failing_nodes_cost_gpu_hours(trace):
    data = json.loads(simulate(trace, "--nodes", "2", "--failures", "0.0005:0.001", "-o", "json"))
    assert data["policies"][0]["figures"]["lostGpuHours"] > 0


def test_nodes_of_a_snapshot(trace, tmp_path):
    header = new_header("default", 0.0, [NODE], ())
    node = {"metadata": {"name": "big", "uid": "u"}, "status": {"allocatable": {"nvidia.com/gpu": "160"}}}
    write_snapshot(tmp_path / "cluster", header, [Listed(NODE.group_resource, node)])
    told = simulate(trace, "--snapshot", str(tmp_path / "cluster"))
    assert told.startswith("4 jobs on 1 nodes with 160 GPUs")


@pytest.mark.parametrize("text", ["30", "0:4", "x:1", "30:-1", "inf:1", "nan:1"])
def test_a_failure_rate_is_two_numbers(trace, text):
    assert "should be DAYS:HOURS, such as 30:4" in refused(trace, "--failures", text)


ARRIVALS = """
apiVersion: v1
kind: Pod
metadata: {name: first, annotations: {posse.dev/run-seconds: "100"}}
spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: second, annotations: {posse.dev/arrives-at: "%s"}}
spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}
"""


def test_manifests_arrive_when_they_say(tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text(ARRIVALS % "40")
    data = json.loads(simulate(path, "--nodes", "1", "--policy", "fifo", "-o", "json"))
    waits = {one["job"]: one["waitSeconds"] for one in data["policies"][0]["longestWaits"]}
    assert waits == {"default/first": 0, "default/second": 60}


LIMITED = """
apiVersion: batch/v1
kind: Job
metadata: {name: first}
spec:
  activeDeadlineSeconds: 70
  template:
    metadata: {annotations: {posse.dev/run-seconds: "100"}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]
---
"""


def test_jobs_of_manifests_end_at_their_limit(tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text(LIMITED + ARRIVALS.split("---")[1] % "40")
    data = json.loads(simulate(path, "--nodes", "1", "--policy", "backfill", "-o", "json"))
    waits = {one["job"]: one["waitSeconds"] for one in data["policies"][0]["longestWaits"]}
    assert waits["default/second"] == 30


@pytest.mark.parametrize("when", ["soon", "-1", "nan", "1e30"])
def test_an_arrival_is_a_number_of_seconds(tmp_path, when):
    path = tmp_path / "jobs.yaml"
    path.write_text(ARRIVALS % when)
    assert f"posse.dev/arrives-at: '{when}' is not a number of seconds" in refused(path)


def test_what_never_starts_is_listed(tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text((ARRIVALS % "40").replace("nvidia.com/gpu: 8", "nvidia.com/gpu: 9"))
    assert "Never started by greedy: default/first (9 GPUs)" in simulate(path, "--policy", "greedy")


def test_nodes_may_fail_where_no_job_ends(tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text((ARRIVALS % "40").replace(', annotations: {posse.dev/run-seconds: "100"}', ""))
    assert simulate(path, "--nodes", "2", "--failures", "0.0001:0.001").startswith("2 jobs on 2 nodes")


def test_a_run_time_that_is_no_number_is_named(tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text((ARRIVALS % "40").replace('"100"', '"abc"'))
    told = refused(path)
    assert "default/first: " in told
    assert "posse.dev/run-seconds" in told


def test_forecasts_are_counted(trace):
    told = simulate(trace, "--nodes", "2", "--policy", "backfill", "--forecasts").splitlines()
    at = next(number for number, line in enumerate(told) if line.startswith("FORECASTS"))
    assert told[at].split()[1] == "GIVEN"
    assert told[at + 1].split()[0] == "backfill"
    data = json.loads(simulate(trace, "--nodes", "2", "--policy", "backfill", "--forecasts", "-o", "json"))
    assert data["policies"][0]["forecasts"]["beforeBound"] == 0
