"""Subjects that were neither defaulted nor validated: that is done before their controller sees them."""

import pytest

from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.late_admission import Unadmitted
from posse.controllers.steps import Create
from posse.kinds.machinery.errors import FieldError
from posse.kinds.registry import JOB, JOB_SET

NOW = 1_800_000_000.0


def jobset(version="1", **spec):
    pod = {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    job = {"name": "w", "template": {"spec": {"parallelism": 2, "completions": 2, "template": pod}}}
    metadata = {"name": "js", "namespace": "ns", "uid": "u", "resourceVersion": version}
    return {"metadata": metadata, "spec": {"replicatedJobs": [job], **spec}}


def steps(plan):
    return [step for stage in plan.stages for step in stage]


def jobs(plan):
    return [step.obj for step in steps(plan) if isinstance(step, Create) and step.kind is JOB]


def told(plan):
    """The one thing that is done: a condition is written."""
    (step,) = steps(plan)
    (condition,) = step.obj["status"]["conditions"]
    assert (step.kind, step.subresource, condition["type"]) == (JOB_SET, "status", "Invalid")
    return condition["status"], condition["message"]


@pytest.fixture
def unadmitted():
    return Unadmitted(JOB_SET, JobSetController())


def test_what_was_left_out_is_filled_in(unadmitted):
    written = jobset()
    unadmitted.see(JOB_SET, written)
    (job,) = jobs(unadmitted.plan("u", NOW))
    assert job["spec"]["completionMode"] == "Indexed"
    assert "network" not in written["spec"]
    assert unadmitted.touched.take(9) == ["u"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"gangConfig": {"gangMode": "Pack"}}, 'spec.gangConfig.gangMode: Unsupported value: "Pack"'),
        ({"suspend": "perhaps"}, "spec.suspend: "),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_made(unadmitted, spec, message):
    unadmitted.see(JOB_SET, jobset(**spec))
    plan = unadmitted.plan("u", NOW)
    status, text = told(plan)
    assert status == "True"
    assert text.startswith(message)
    assert [(news.reason, news.message, news.is_warning) for news in plan.news] == [("Invalid", text, True)]


def test_it_is_told_once(unadmitted):
    wrong = jobset(suspend="perhaps")
    unadmitted.see(JOB_SET, wrong)
    (step,) = steps(unadmitted.plan("u", NOW))
    unadmitted.see(JOB_SET, step.obj | {"metadata": wrong["metadata"] | {"resourceVersion": "2"}})
    assert steps(unadmitted.plan("u", NOW + 60)) == []


def test_what_was_mended_is_told_and_goes_on(unadmitted):
    wrong = jobset(suspend="perhaps")
    unadmitted.see(JOB_SET, wrong)
    (step,) = steps(unadmitted.plan("u", NOW))
    unadmitted.see(JOB_SET, jobset("2") | {"status": step.obj["status"]})
    assert told(unadmitted.plan("u", NOW)) == ("False", "the object can be what it says")
    (step,) = steps(unadmitted.plan("u", NOW))
    unadmitted.see(JOB_SET, jobset("3") | {"status": step.obj["status"]})
    assert len(jobs(unadmitted.plan("u", NOW))) == 1


def test_what_may_not_change_is_left_as_it_was(unadmitted):
    unadmitted.see(JOB_SET, jobset())
    unadmitted.see(JOB_SET, jobset("2", gangConfig={"gangMode": "Gang"}))
    assert told(unadmitted.plan("u", NOW))[1].startswith("spec.gangConfig: Invalid value")
    unadmitted.see(JOB_SET, jobset("3"))
    assert len(jobs(unadmitted.plan("u", NOW))) == 1


def test_news_that_are_older_than_what_is_known_are_none(unadmitted):
    unadmitted.see(JOB_SET, jobset("2"))
    unadmitted.see(JOB_SET, jobset("1", suspend="perhaps"))
    assert len(jobs(unadmitted.plan("u", NOW))) == 1


def test_what_is_gone_is_forgotten(unadmitted):
    unadmitted.see(JOB_SET, jobset(suspend="perhaps"))
    unadmitted.lose(JOB_SET, jobset())
    assert (steps(unadmitted.plan("u", NOW)), unadmitted.subject("u")) == ([], None)


def test_more_may_be_refused():
    refused = Unadmitted(JOB_SET, JobSetController(), lambda _: [FieldError.forbidden("spec", "not here")])
    refused.see(JOB_SET, jobset())
    assert told(refused.plan("u", NOW)) == ("True", "spec: Forbidden: not here")
