"""Drafts of a JobSet's status."""

from posse.controllers.jobsets.children import sort_children
from posse.controllers.jobsets.statuses import StatusDraft
from posse.controllers.steps import News
from posse.model.jobset import JobSet, JobSetSpec, ReplicatedJob

NOW = 1_767_225_600.0
TAKEN = News("JobConflict", "taken")


def draft_of(count):
    jobset = JobSet(spec=JobSetSpec(replicated_jobs=tuple(ReplicatedJob(name=f"j{i}") for i in range(count))))
    draft = StatusDraft({}, NOW)
    draft.count(jobset, sort_children([], jobset.status))
    return draft


def test_what_the_status_would_be_shares_its_counts():
    """There is one for each Job that is made, and each has the counts of all replicatedJobs."""
    draft = draft_of(3)
    told = draft.holding("JobsBlocked", TAKEN)
    assert told["replicatedJobsStatus"] is draft.status["replicatedJobsStatus"]


def test_what_the_status_would_be_leaves_the_draft_as_it_is():
    draft = draft_of(1)
    draft.hold("JobsBlocked", News("JobConflict", "another"))
    told = draft.holding("JobsBlocked", TAKEN)
    assert [item["message"] for item in told["conditions"]] == ["taken"]
    assert [item["message"] for item in draft.status["conditions"]] == ["another"]
    assert len(draft.news) == 1
