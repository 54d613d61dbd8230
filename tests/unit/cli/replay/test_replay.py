"""`posse replay` on the command line."""

import pytest

from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from posse.recording.recorder import Recorder
from posse.recording.segments import RecordingHeader
from posse.version import VERSION
from tests.support import posse_command
from tests.support.builders import gang, node, pod

SETTINGS = {"schedulerNames": ["default-scheduler"], "featureGates": {"GangScheduling": True}}
PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit}]}}
"""


@pytest.fixture
def recording(tmp_path):
    """A pod on one of two nodes, and a gang that waits."""
    folder = tmp_path / "recording"
    engine, recorder = (
        Engine(EngineOptions()),
        Recorder(folder, RecordingHeader(VERSION, SETTINGS, False, 10.0), 1 << 20),
    )
    there = pod("there", cpu="2", on="n2")
    waiting = [pod(f"g{index}", cpu="4", group="g") for index in range(2)]
    for obj in (node("n1"), node("n2"), there, pod("new", cpu="1"), gang("g", 2), *waiting):
        recorder.absorbed(Observed(obj))
        engine.absorb(Observed(obj))
    recorder.decided(1_800_000_000.0, engine.decide(1_800_000_000.0))
    recorder.close()
    return folder


def replay(*words):
    return posse_command.posse("posse", "replay", *words)


def test_equal_decisions_are_counted(recording):
    assert replay(recording).strip().endswith("decisions in 1 rounds after 7 events, all equal")


def test_the_first_difference_is_told_in_words(recording, tmp_path):
    config = tmp_path / "packing.yaml"
    config.write_text(PACKING)
    with pytest.raises(AssertionError) as differs:
        replay(recording, "--config", config)
    told = str(differs.value)
    assert "The first round that differs is that of 2027-01-15T08:00:00Z." in told
    assert "bind pod test/new to n1" in told
    assert "bind pod test/new to n2" in told


def test_the_past_can_be_asked(recording, tmp_path):
    then = tmp_path / "then.gz"
    told = replay(recording, "--at", "2027-01-15T08:00:01Z", "--snapshot-to", then)
    assert told.startswith("7 objects as of 2027-01-15T08:00:00Z")
    assert "g " in posse_command.posse("posse", "gangs", "-A", "--snapshot", then)


def refused(*words):
    with pytest.raises(AssertionError) as told:
        replay(*words)
    return str(told.value)


def test_another_verb_answers_as_it_would_have_then(recording):
    told = replay(recording, "--at", "2027-01-15T08:00:00Z", "gangs", "-A")
    assert "g " in told
    assert "Waiting" in told
    assert "waits" in replay(recording, "explain", "podgroup/g", "-n", "test")
    assert "nothing" in refused(recording, "explain", "podgroup/nothing", "-n", "test")
    assert "cannot be combined with gangs" in refused(recording, "--without", "test/g", "gangs")
    assert "gangs holds no recording" in refused("--at", "2027-01-15T08:00:00Z", "gangs", "gangs")


def test_a_recording_without_decisions_is_no_success(recording):
    (path,) = recording.glob("*.rec")
    path.write_bytes(path.read_bytes()[:-5])
    told = refused(recording)
    assert "nothing was decided, so nothing was compared. 00000001.rec ends within a write" in told


def test_a_time_outside_of_the_recording_is_told(recording):
    assert "The recording ends before that time" in replay(recording, "--at", "2030-01-01T00:00:00Z")
    assert "nothing was decided up to 2020-01-01T00:00:00Z" in refused(
        recording, "--at", "2020-01-01T00:00:00Z"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "yesterday"], "--at:"),
        (["--at", "2001-01-01T00:00:00Z", "--snapshot-to", "x.gz"], "nothing was decided up to that time"),
        (["--config", "x.yaml", "--snapshot-to", "x.gz"], "exclude each other"),
    ],
)
def test_what_makes_no_sense_is_refused(recording, words, message):
    with pytest.raises(AssertionError) as refused:
        replay(recording, *words)
    assert message in " ".join(str(refused.value).split())


@pytest.mark.parametrize("more", [["2=n1"], ["1=n1", "1=n1"]])
def test_more_nodes_would_have_let_the_gang_start(recording, more):
    with pytest.raises(AssertionError) as differs:
        replay(recording, *(word for text in more for word in ("--add-nodes", text)))
    told = str(differs.value)
    rows = [line.split() for line in told.splitlines()]
    assert ["recorded", "2/3"] in [row[:2] for row in rows]
    assert ["changed", "3/3"] in [row[:2] for row in rows]
    assert "recorded never starts it, changed starts it after 0s on 2 nodes" in told


def test_without_other_work_the_gang_would_have_started(recording):
    with pytest.raises(AssertionError) as differs:
        replay(recording, "--without", "test/there", "--without", "test/new")
    rows = [line.split()[:2] for line in str(differs.value).splitlines()]
    assert ["recorded", "0/1"] in rows
    assert ["changed", "1/1"] in rows


def test_the_same_cluster_gives_the_same_jobs(recording):
    told = posse_command.posse("posse", "simulate", recording)
    assert told.splitlines()[3].split()[:2] == ["recorded", "2/3"]


def test_what_the_recording_lacks_is_named(recording):
    with pytest.raises(AssertionError, match="the recording has no 'test/nothing'; it has test/g"):
        replay(recording, "--without", "test/nothing")
    with pytest.raises(AssertionError, match="is not NUMBER=NODE with a node of the recording"):
        replay(recording, "--add-nodes", "2=n9")
