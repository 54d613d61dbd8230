import sys

from tools.conformance import Outcome, complaints, listed


def test_nothing_is_wrong_when_all_that_must_pass_did():
    assert complaints({"a", "b"}, Outcome({"a", "b", "c"}, {"c"}, set())) == []


def test_what_must_pass_may_not_fail():
    wrong = complaints({"a", "b"}, Outcome({"a", "b"}, {"b"}, set()))
    assert wrong == ["These scenarios passed before and fail now: b"]


def test_what_must_pass_may_not_be_missing_unless_it_was_not_asked_for():
    wrong = complaints({"a", "renamed", "of-another-tag"}, Outcome({"a"}, set(), {"of-another-tag"}))
    assert wrong == ["These scenarios must pass and did not run: renamed"]


def test_scenarios_are_listed_by_name(tmp_path):
    runner = tmp_path / "run.py"
    runner.write_text(
        "print('a-name    [gang] some case'); print('another   [basic] x'); print('2 scenarios')"
    )
    assert listed([sys.executable, runner]) == {"a-name", "another"}
