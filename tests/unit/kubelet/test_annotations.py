import pytest

from posse.kubelet.annotations import RunPlan, read_plan


def test_without_annotations_a_pod_runs_until_it_is_stopped():
    assert read_plan({}) == RunPlan(run_seconds=None, exit_code=0, stop_seconds=0.0)


def test_all_annotations_are_read():
    annotations = {
        "posse.dev/run-seconds": "12.5",
        "posse.dev/exit-code": "3",
        "posse.dev/stop-seconds": "4",
        "other": "x",
    }
    assert read_plan(annotations) == RunPlan(run_seconds=12.5, exit_code=3, stop_seconds=4.0)


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf", "1e999", "5s"])
def test_bad_seconds_are_ignored_with_a_complaint_that_names_them(text):
    plan = read_plan({"posse.dev/run-seconds": text, "posse.dev/stop-seconds": text})
    assert (plan.run_seconds, plan.stop_seconds) == (None, 0.0)
    assert len(plan.complaints) == 2
    assert "posse.dev/run-seconds" in plan.complaints[0]
    assert f'"{text}"' in plan.complaints[0]
    assert "posse.dev/stop-seconds" in plan.complaints[1]


@pytest.mark.parametrize("text", ["", "one", "-1", "256", "1.0", "9" * 5000, "٣"])
def test_a_bad_exit_code_counts_as_zero(text):
    plan = read_plan({"posse.dev/exit-code": text})
    assert plan.exit_code == 0
    assert "posse.dev/exit-code" in plan.complaints[0]


@pytest.mark.parametrize(("text", "code"), [("0", 0), ("1", 1), ("255", 255)])
def test_exit_codes_over_the_whole_range(text, code):
    assert read_plan({"posse.dev/exit-code": text}) == RunPlan(exit_code=code)
