"""How a whole cluster is read: page by page, in whichever versions it serves, leaving out what cannot be read."""

from urllib.parse import parse_qs, urlsplit

import pytest

from posse.cli.client import Refused
from posse.cli.explain.group_words import headline
from posse.cli.reading.cluster_reader import survey_cluster
from posse.cli.reading.ended_members import Fates
from posse.cli.reading.sources import PAGE, ApiSource
from posse.engine.explain.group_status import State
from posse.engine.groups.forms import NATIVE, POSSE, WORKLOAD_REF
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.kinds.discovered import Discovered
from posse.kinds.registry import POD, POD_GROUP

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


def serving(paths):
    groups = [path.removeprefix("/api/").removeprefix("/apis/").rpartition("/") for path in paths]
    return Discovered(
        {"groupVersion": group_version, "resources": [{"name": plural}]}
        for group_version, _, plural in groups
    )


class FakeClient:
    """Serves lists of objects by path, in pages, and nothing else. Items do not say of which kind they are."""

    def __init__(self, lists, forgets_after=None):
        self.lists = lists
        self.forgets_after = forgets_after
        self.asked = []
        self.served = serving(lists)

    def get(self, path):
        self.asked.append(path)
        parts = urlsplit(path)
        query = parse_qs(parts.query)
        items = self.lists[parts.path]
        if not query:
            return {"metadata": {}, "items": items}
        start = int(query.get("continue", ["0"])[0])
        if self.forgets_after is not None and start > self.forgets_after:
            raise Refused({"code": 410, "reason": "Expired"})
        end = start + int(query["limit"][0])
        return {"metadata": {"continue": str(end)} if end < len(items) else {}, "items": items[start:end]}


def pod(name, group="", phase="Pending", **metadata):
    member = {"schedulingGroup": {"podGroupName": group}} if group else {}
    return {
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            **metadata,
        },
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c"}], **member},
        "status": {"phase": phase},
    }


def node(name):
    return {
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}},
    }


def group(name, **spec):
    return {"metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}"}, "spec": spec}


def gang(name, minimum):
    return group(name, schedulingPolicy={"gang": {"minCount": minimum}})


def surveyed(**lists):
    paths = {
        "nodes": NODES,
        "pods": PODS,
        "groups": "/apis/scheduling.k8s.io/v1beta1/podgroups",
        "old_groups": "/apis/scheduling.k8s.io/v1alpha2/podgroups",
        "workloads": "/apis/scheduling.k8s.io/v1beta1/workloads",
        "posse_groups": "/apis/scheduling.posse.dev/v1alpha1/podgroups",
    }
    client = FakeClient({paths[name]: items for name, items in lists.items()})
    return survey_cluster(ApiSource(client), EngineOptions())


def test_kinds_that_are_not_served_are_none_of():
    survey = surveyed(nodes=[node("n1")], pods=[pod("p")])
    assert survey.group_keys() == []
    assert survey.engine.explain_pod("uid-p").target == "n1"


def test_items_of_lists_are_taken_for_what_they_were_asked_for_as():
    survey = surveyed(groups=[gang("g", 2)], posse_groups=[gang("g", 3)])
    assert {now.key.form: now.minimum for now in survey.engine.situations()} == {
        NATIVE.name: 2,
        POSSE.name: 3,
    }


def test_an_older_version_is_read_where_it_is_the_only_one():
    survey = surveyed(
        old_groups=[
            {
                **gang("g", 1),
                "status": {
                    "conditions": [{"type": "PodGroupScheduled", "status": "True", "reason": "Scheduled"}]
                },
            }
        ]
    )
    (now,) = survey.engine.situations()
    assert now.has_started, "the condition has another name there"


@pytest.mark.parametrize("forgets_after", [None, PAGE])
def test_long_lists_come_in_pages(forgets_after):
    pods = [pod(f"p{i}") for i in range(2 * PAGE + 5)]
    client, told = FakeClient({PODS: pods}, forgets_after), []
    names = [obj["metadata"]["name"] for obj in ApiSource(client).objects(POD, None, told.append)]
    assert set(names) == {one["metadata"]["name"] for one in pods}
    assert len(client.asked) == (3 if forgets_after is None else 4)
    assert f"Reading pods: {PAGE}" in told


def test_refusals_are_told():
    class Forbidding:
        served = serving(["/apis/scheduling.k8s.io/v1beta1/podgroups"])

        def get(self, path):
            raise Refused({"code": 403, "reason": "Forbidden", "message": "no"})

    with pytest.raises(Refused, match="Forbidden"):
        list(ApiSource(Forbidding()).objects(POD_GROUP, None, print))


def test_one_object_that_cannot_be_read_is_left_out_with_a_warning(capsys):
    broken = {**pod("broken"), "spec": {"containers": "none"}}
    survey = surveyed(nodes=[node("n1")], pods=[broken, pod("p")])
    assert list(survey.pods) == [("team", "p")]
    assert "Warning: leaving out pod team/broken: spec.containers" in capsys.readouterr().err


def test_pods_that_have_finished_are_remembered():
    done = [pod("a", "g", phase="Succeeded"), pod("b", "g", phase="Failed")]
    survey = surveyed(groups=[gang("g", 2)], pods=[*done, pod("c", "g")])
    key = GroupKey("team", "g")
    assert survey.fates(key) == Fates(succeeded=1, failed=1)
    assert list(survey.members[key]) == ["a", "b", "c"]
    assert next(iter(survey.engine.situations())).state is State.WAITING_FOR_PODS


def test_groups_that_only_ended_pods_name_are_not_forgotten():
    done = [pod("a", phase="Succeeded"), pod("b", phase="Succeeded")]
    for one in done:
        one["spec"]["workloadRef"] = {"name": "w", "podGroup": "a"}
    policy = {"gang": {"minCount": 2}}
    described = group("w", podGroupTemplates=[{"name": "a", "schedulingPolicy": policy}])
    survey = surveyed(workloads=[described], pods=done)
    key = GroupKey("team", "w", WORKLOAD_REF.name, "a")
    (now,) = survey.situations()
    assert (survey.group_keys(), now) == ([key], survey.explain(key).situation)
    assert headline(now, survey.fates(key)) == "Group a of Workload team/w has finished: 2 pods succeeded."
    assert now.minimum == 2


def test_a_group_is_as_old_as_what_describes_it_or_as_its_oldest_pod():
    old, new = "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"
    described = gang("g", 2)
    described["metadata"]["creationTimestamp"] = new
    members = [pod("a", "g"), pod("b", "h", creationTimestamp=new), pod("c", "h", creationTimestamp=old)]
    survey = surveyed(groups=[described], pods=members)
    assert survey.created(GroupKey("team", "g")) == new
    assert survey.created(GroupKey("team", "h")) == old
    assert survey.created(GroupKey("team", "nobody")) == ""
