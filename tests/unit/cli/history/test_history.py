"""What happened to groups and pods, from events and from decision logs."""

import json

import pytest

from posse.cli.history.happenings import StepKind, steps_of_events, steps_of_log
from posse.cli.history.run import HistoryChoice, age_limit
from posse.cli.history.summary import records, summary_lines, timeline
from posse.cli.problems import Misuse, Problem
from posse.model.decoding import decode
from posse.model.pod import Pod
from posse.model.timestamps import parse_timestamp
from tests.support.listed_objects import pod

NOW = parse_timestamp("2026-01-01T01:00:00Z")


def event(reason, involved, when, message="", related=None, kind="Pod"):
    about = {"kind": kind, "namespace": "team", "name": involved, "uid": f"uid-{involved}"}
    extra = {"related": {"kind": "PodGroup", "name": related}} if related else {}
    time = f"2026-01-01T00:{when}:00Z"
    return {"reason": reason, "message": message, "involvedObject": about, "lastTimestamp": time, **extra}


def of_events():
    members = [decode(Pod, pod(name, group="meek")) for name in ("m1", "m2")]
    return steps_of_events(
        [
            event("Scheduled", "m1", "10"),
            event("Scheduled", "m2", "10"),
            event("FailedScheduling", "urgent", "20", "0/2 nodes are available", kind="PodGroup"),
            event("Preempted", "m1", "30", "Preempted by podgroup urgent", related="urgent"),
            event("Pulled", "m1", "31"),
        ],
        {one.metadata.uid: one for one in members},
    )


def test_events_of_pods_are_told_of_their_group():
    meek = next(one for one in records(of_events()) if one.name == "meek")
    assert (meek.placed_pods, meek.waited_seconds, meek.preempted_pods) == (2, 600.0, 1)
    assert meek.preempted_by == "podgroup/urgent"
    urgent = next(one for one in records(of_events()) if one.name == "urgent")
    assert (urgent.refusals, urgent.started) == (1, "")


def test_a_group_and_its_pods_are_refused_and_started_together():
    members = [decode(Pod, pod(name, group="g")) for name in ("m1", "m2")]
    told = [
        event(reason, name, when, kind="PodGroup" if name == "g" else "Pod")
        for reason, when in (("FailedScheduling", "10"), ("FailedScheduling", "20"), ("Scheduled", "30"))
        for name in ("g", "m1", "m2")
    ]
    (record,) = records(steps_of_events(told, {one.metadata.uid: one for one in members}))
    assert (record.refusals, record.placed_pods) == (2, 2)


def test_the_table_has_a_line_for_each_and_the_latest_last():
    lines = summary_lines(records(of_events()), NOW, with_namespace=False)
    assert lines[0].split() == ["NAME", "PODS", "WAITED", "REFUSED", "PREEMPTED", "LAST"]
    assert lines[1].split() == ["urgent", "-", "-", "1", "-", "refused", "40m", "ago"]
    assert lines[2].split() == ["meek", "2", "10m", "-", "1", "preempted", "30m", "ago"]
    assert max(map(len, lines)) <= 80


def test_the_wide_table_has_the_kind_the_start_and_the_preemptor():
    lines = summary_lines(records(of_events()), NOW, with_namespace=True, is_wide=True)
    assert lines[0].split()[-4:] == ["LAST", "KIND", "STARTED", "BY"]
    assert lines[2].split()[-4:] == ["PodGroup", "50m", "ago", "podgroup/urgent"]


def test_one_group_is_told_step_by_step():
    choice = HistoryChoice("podgroup/meek")
    lines = timeline(step for step in of_events() if choice.takes(step, NOW))
    assert [line.split()[1:3] for line in lines] == [
        ["podgroup/meek", "started"],
        ["podgroup/meek", "preempted"],
    ]
    assert "m1, m2" in lines[0]
    assert "after 10m" in lines[0]
    assert "by podgroup/urgent" in lines[1]


def log(*lines):
    return [json.dumps({"time": "2026-01-01T00:00:00.000000Z", **line}) for line in lines]


def test_a_decision_log_names_starts_refusals_and_victims():
    steps = steps_of_log(
        log(
            {"outcome": "bound", "pod": "team/m1", "node": "n1"},
            {"outcome": "bound", "group": "team/meek", "placements": {"m1": "n1"}, "queue_seconds": 2.5},
            {
                "outcome": "refused",
                "group": "team/urgent",
                "message": "full",
                "victims": ["team/m1", "team/x"],
            },
            {"outcome": "failed", "pod": "team/odd", "message": "no such volume"},
        ),
        "decisions.log",
    )
    assert [(step.name, step.what) for step in steps] == [
        ("meek", StepKind.STARTED),
        ("urgent", StepKind.PREEMPTING),
        ("meek", StepKind.PREEMPTED),
        ("x", StepKind.PREEMPTED),
        ("odd", StepKind.FAILED),
    ]
    assert (steps[0].waited_seconds, steps[2].by, steps[3].kind) == (2.5, "podgroup/urgent", "Pod")


def test_a_line_that_is_none_is_named():
    with pytest.raises(Problem, match=r"^decisions.log:2: not a line of a decision log: "):
        steps_of_log([*log({"outcome": "bound", "pod": "team/a"}), "{"], "decisions.log")


def test_the_past_can_be_cut_off():
    choice = HistoryChoice(age_limit=age_limit("35m"))
    assert [step.what for step in of_events() if choice.takes(step, NOW)] == [StepKind.PREEMPTED]
    assert age_limit("") is None
    with pytest.raises(Misuse, match="--since: 'soon' is no duration"):
        age_limit("soon")


def test_the_verb_reads_a_file(posse, tmp_path):
    path = tmp_path / "decisions.log"
    path.write_text("\n".join(log({"outcome": "bound", "pod": "team/a", "node": "n1", "queue_seconds": 1})))
    shown = posse("history", "--from", path)
    assert shown.out.splitlines()[1].split() == [
        "team",
        "a",
        "1",
        "1s",
        "-",
        "-",
        "started",
        "0s",
        "ago",
    ]
    assert posse("history", "--from", path, "-o", "wide").out.splitlines()[0].split()[-1] == "BY"
    assert json.loads(posse("history", "a", "--from", path, "-o", "json").out)[0]["waitedSeconds"] == 1
    missing = posse("history", "--from", tmp_path / "none")
    assert (missing.code, missing.err) == (1, f"Error: --from: {tmp_path}/none: no such file or directory\n")
