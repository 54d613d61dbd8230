"""Groups and pods of a Job, a JobSet or a Deployment, and misspelt names of groups."""

import pytest

from posse.cli.explain.group_line import in_order, lines_of
from posse.cli.explain.group_table import GroupChoice, changes, chosen, table
from posse.cli.explain.run import Asked, _stories
from posse.cli.explain.targets import parse_target
from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import survey_cluster
from posse.cli.reading.owners import Owners
from posse.engine.options import EngineOptions
from posse.model.selectors import parse_label_selector
from tests.support.listed_objects import NOW, ListedObjects, gang, made, node, pod


def told(source, *words):
    survey = survey_cluster(source, EngineOptions())
    asked = Asked(source, survey, Owners(survey, source, "team"), NOW)
    return "\n".join(line for story in _stories(asked, parse_target(*words), "team") for line in story)


def lines(source):
    survey = survey_cluster(source, EngineOptions())
    return in_order(lines_of(survey, Owners(survey, source, None), None))


def a_jobset(waiting=0):
    """One JobSet with five Jobs of one gang each; the last ones wait."""
    names = [f"train-{index}" for index in range(5)]
    placed = names[: len(names) - waiting]
    return ListedObjects(
        jobsets=[made("train", spec={})],
        jobs=[made(f"job-{name}", "JobSet/train") for name in names],
        groups=[gang(name, 2, labels={"part": name}) for name in names],
        nodes=[node("n1", "r1"), node("n2", "r2")],
        pods=[
            pod(f"{name}-{index}", f"Job/job-{name}", name, "n1" if name in placed else "", gpus=1)
            for name in names
            for index in range(2)
        ],
    )


def test_the_groups_of_a_jobset_are_found_through_its_jobs_and_summed_up():
    text = told(a_jobset(waiting=1), "jobset/train")
    assert text.startswith("JobSet team/train has 5 groups and 10 pods (8 on nodes, 2 waiting).\n5 groups: ")
    assert "5 groups: 4 Scheduled, 1 Fits" in text
    # The story of the one that has not started follows.
    assert "PodGroup team/train-4 fits: it could start now." in text
    assert "owner          jobset/train" in text
    assert "PodGroup team/train-3 " not in text


def test_few_groups_are_explained_one_by_one():
    source = ListedObjects(
        jobs=[made("one", spec={})],
        workloads=[made("w", "Job/one", spec={"controllerRef": {"kind": "Job", "name": "one"}})],
        groups=[gang("g", 1, workloadRef={"workloadName": "w", "templateName": "t"})],
        nodes=[node("n1")],
        pods=[pod("p", "Job/one", "g", "n1")],
    )
    text = told(source, "job", "one")
    assert text.startswith("Job team/one has 1 group and 1 pod (1 on nodes).")
    assert "PodGroup team/g has started" in text
    assert "owner          job/one (controllerRef of its Workload)" in text


def test_a_deployment_without_groups_explains_a_pod_that_waits():
    source = ListedObjects(
        deployments=[made("web", spec={})],
        nodes=[node("n1", gpus=0)],
        pods=[pod("web-1", "Deployment/web", node_name="n1"), pod("web-2", "Deployment/web", gpus=1)],
    )
    text = told(source, "deploy/web")
    assert text.startswith("Deployment team/web has 2 pods (1 on nodes, 1 waiting).")
    assert "Pod team/web-2 waits: it " in text


def test_a_controller_without_pods_says_so():
    source = ListedObjects(jobs=[made("held", spec={"suspend": True})], nodes=[], pods=[])
    assert told(source, "job/held") == "Job team/held has no pods. It is suspended."


def test_the_limit_of_a_job_is_told_with_its_deadline():
    job = made("limited", spec={"activeDeadlineSeconds": 3600})
    job["metadata"]["uid"] = "uid-limited"
    job["status"] = {"startTime": "2026-01-31T12:00:00Z"}
    waiting = pod("p", "Job/limited", "g", gpus=9)
    waiting["metadata"]["ownerReferences"][0] |= {"uid": "uid-limited", "apiVersion": "batch/v1"}
    text = told(ListedObjects(groups=[gang("g", 1)], jobs=[job], nodes=[node("n1")], pods=[waiting]), "pg/g")
    assert "activeDeadlineSeconds)" in text
    assert "deadline       its Job is ended at " in text


def test_a_duration_that_only_a_controller_beside_jobs_states_is_told_to_be_unused():
    web = made("web", spec={"template": {"spec": {}}})
    web["metadata"]["annotations"] = {"posse.dev/expected-duration": "1h"}
    text = told(ListedObjects(deployments=[web], nodes=[], pods=[]), "deploy/web")
    assert (
        "not used       its annotation posse.dev/expected-duration: write it on spec.template.metadata"
        in text
    )
    assert "not used" not in told(ListedObjects(jobs=[web], nodes=[], pods=[]), "job/web")


def test_a_suspended_job_of_a_kueue_queue_says_what_it_waits_for():
    job = made("held", spec={"suspend": True})
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team-a"}
    text = told(ListedObjects(jobs=[job], nodes=[], pods=[]), "job/held")
    assert "It is suspended, and waits for queue team-a of Kueue" in text


def test_names_that_do_not_exist_offer_a_near_one():
    with pytest.raises(Problem, match='there is no Job "trian" in namespace team; did you mean "train"'):
        told(ListedObjects(jobs=[made("train")], pods=[]), "job/trian")
    with pytest.raises(
        Problem, match='there is no PodGroup "trainr" in namespace team; did you mean "trainer"'
    ):
        told(ListedObjects(groups=[gang("trainer", 1)], pods=[]), "pg/trainr")
    with pytest.raises(Problem, match="this cluster has no deployments"):
        told(ListedObjects(pods=[]), "deployment/web")


def test_a_pod_whose_group_is_misspelt_is_told_the_near_name():
    source = ListedObjects(groups=[gang("trainer", 1)], nodes=[node("n1")], pods=[pod("p", group="trainr")])
    assert "did you mean: trainer, which exists" in told(source, "pod/p")
    assert "did you mean   trainer, which exists" in told(source, "pg/trainr")


def test_gangs_show_racks_gpus_and_owners():
    rows = table(lines(a_jobset(waiting=1)), NOW, with_namespace=False, wide=False)
    assert rows[0].split() == ["NAME", "STATE", "READY", "GPUS", "RACK", "OWNER", "AGE", "WHY"]
    assert rows[1].split()[:7] == ["train-4", "Fits", "0/2", "2", "-", "jobset/train", "60s"]
    assert rows[2].split() == ["train-0", "Scheduled", "2/2", "2", "r1", "jobset/train", "60s"]
    wide = table(lines(a_jobset()), NOW, with_namespace=True, wide=True)[0].split()
    assert wide[:5] == ["NAMESPACE", "NAME", "FORM", "STATE", "READY"]
    assert wide[5:10] == ["MEMBERS", "PRIORITY", "GPUS", "RACK", "PREFERS"]
    assert wide[10:] == ["PROTECTED", "OWNER", "AGE", "STARTS", "WHY"]


def test_gangs_are_selected_by_label_and_sorted():
    found = lines(a_jobset(waiting=1))
    some = chosen(found, GroupChoice(None, parse_label_selector("part in (train-1,train-3)"), "name"))
    assert [line.name for line in some] == ["train-1", "train-3"]
    assert [line.name for line in chosen(found, GroupChoice(None, None, "rack"))][-1] == "train-4"


def test_watching_prints_what_changed():
    choice = GroupChoice(None)
    before, after = lines(a_jobset(waiting=1)), lines(a_jobset())
    assert len(changes([], before, NOW, choice, wide=False)) == 6
    (changed,) = changes(before, after, NOW, choice, wide=False)
    assert changed.split()[1:3] == ["train-4", "Scheduled"]
    assert changes(after, after, NOW, choice, wide=False) == []
    (gone,) = changes(after, after[1:], NOW, choice, wide=False)
    assert gone.split()[1:3] == [after[0].name, "Gone"]


@pytest.mark.parametrize("name", ["gong", "gan", "gangs", "gnag", "bang"])
def test_one_letter_off_is_close_in_short_names_too(name):
    source = ListedObjects(groups=[gang("gang", 1)], nodes=[node("n1")], pods=[pod("p", group=name)])
    assert "did you mean: gang, which exists" in told(source, "pod/p")


def test_names_that_differ_in_two_letters_are_not_close():
    source = ListedObjects(groups=[gang("gang", 1)], nodes=[node("n1")], pods=[pod("p", group="ring")])
    assert "did you mean" not in told(source, "pod/p")
