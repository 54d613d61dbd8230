"""What plans say: starts, waits with its reason, preempts; and changes of cluster and workload."""

import json

import pytest
import yaml

from posse.cli.manifests import parse_manifests
from posse.cli.plan.overrides import Overrides
from posse.cli.plan.report import PlanOutcome
from posse.cli.plan.run import PlanQuestion, report_lines, report_of
from posse.cli.plan.what_ifs import ClusterChanges
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.snapshot_file import read_snapshot
from posse.cli.snapshot.run import take_snapshot
from posse.engine.options import EngineOptions
from posse.kinds.registry import NAMESPACE, PRIORITY_CLASS, RESOURCE_QUOTA
from tests.support.listed_objects import ListedObjects, gang, made, node, pod

OPTIONS = EngineOptions(asks=True)


class PlannedCluster(ListedObjects):
    """Four nodes of 8 GPUs in two racks; on three of them runs a gang of low priority."""

    def __init__(self, **more):
        running = [pod(f"r{n}", group="running", node_name=f"n{n}", gpus=8) for n in (1, 2, 3)]
        super().__init__(
            nodes=[node(f"n{n}", f"r{(n + 1) // 2}") for n in range(1, 5)],
            groups=[gang("running", 3, disruptionMode={"all": {}})],
            pods=[*running, *more.get("pods", [])],
        )
        self._objects |= {
            "Namespace": (NAMESPACE, [{"metadata": {"name": "team", "uid": "ns"}}]),
            "PriorityClass": (PRIORITY_CLASS, [{"metadata": {"name": "high", "uid": "pc"}, "value": 1000}]),
        }


def job(count=2, gpus=8, name="train", **spec):
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never", **spec}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "parallelism": count,
            "completions": count,
            "completionMode": "Indexed",
            "scheduling": {"schedulingPolicy": {"gang": {"minCount": count}}},
            "template": template,
        },
    }


def deployment(count=2, gpus=8, gang=None):
    template = job(count, gpus)["spec"]["template"]
    template["spec"].pop("restartPolicy")
    annotations = {"scheduling.posse.dev/gang": gang} if gang else {}
    metadata = {"labels": {"app": "serve"}, "annotations": annotations}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "serve"},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": {"app": "serve"}},
            "template": template | {"metadata": metadata},
        },
    }


def asked(*objects, source=None, overrides=None, **changes):
    manifests = list(parse_manifests(yaml.safe_dump_all(objects), "job.yaml")) if objects else []
    texts = {name: tuple(found) for name, found in changes.items()}
    question = PlanQuestion(manifests, "team", ClusterChanges(**texts), overrides or Overrides())
    return report_of(source or PlannedCluster(), question, OPTIONS)


def test_a_job_that_fits_starts_on_named_nodes():
    report = asked(job(1))
    (planned,) = report.submitted
    assert report.outcome is PlanOutcome.STARTS
    assert (planned.nodes, planned.racks, planned.placed, planned.victims) == ({"n4": 1}, ("r2",), 1, ())
    assert "n4 (1)" in report_lines(report, 0.0, has_question=True)[1]


def test_a_job_that_does_not_fit_waits_and_says_what_would_help():
    report = asked(job(2))
    (planned,) = report.submitted
    assert report.outcome is PlanOutcome.WAITS
    assert "1 of the 2 pods" in planned.why
    assert any("1 more node like n" in change for change in planned.changes)
    assert any(line.strip().startswith("waits: ") for line in report_lines(report, 0.0, has_question=True))


def test_a_job_of_higher_priority_names_its_victims():
    report = asked(job(2, priorityClassName="high"))
    (planned,) = report.submitted
    assert report.outcome is PlanOutcome.PREEMPTS
    assert planned.victims == ("team/r1", "team/r2", "team/r3")
    assert planned.placed == 2
    assert asked(job(2), overrides=Overrides(priority=1000)).outcome is PlanOutcome.PREEMPTS


def test_deployments_are_planned_with_their_gangs():
    assert asked(deployment(1)).outcome is PlanOutcome.STARTS
    gang = asked(deployment(2, gang="all"))
    assert gang.outcome is PlanOutcome.WAITS
    (planned,) = gang.submitted
    assert "only 1 of the 2 pods that must start together fit" in planned.why


def test_advice_that_is_followed_in_a_plan_lets_it_start():
    assert asked(job(2), add_nodes=["1=n1"]).outcome is PlanOutcome.STARTS
    assert asked(job(3), add_nodes=["1=n1"]).outcome is PlanOutcome.WAITS
    assert asked(job(3), add_nodes=["1=n1", "1=n1"]).outcome is PlanOutcome.STARTS
    assert asked(job(2), overrides=Overrides(min_count=1)).outcome is PlanOutcome.STARTS
    assert asked(job(2), without=["podgroup/running"]).outcome is PlanOutcome.STARTS
    assert asked(job(2), without=["pod/r3"]).outcome is PlanOutcome.STARTS


def test_topology_constraints_can_be_left_out():
    tight = job(2, gpus=8)
    manifest = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "tight"},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 2}},
            "schedulingConstraints": {"topology": [{"key": "topology.posse.dev/rack"}]},
        },
    }
    members = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"t{n}"},
            "spec": {**tight["spec"]["template"]["spec"], "schedulingGroup": {"podGroupName": "tight"}},
        }
        for n in (1, 2)
    ]
    free = {"without": ["pod/r1"]}
    assert asked(manifest, *members, **free).outcome is PlanOutcome.WAITS
    assert (
        asked(manifest, *members, overrides=Overrides(no_topology=True), **free).outcome is PlanOutcome.STARTS
    )


def quota(**hard):
    return made("small", spec={"hard": {name.replace("_", "."): amount for name, amount in hard.items()}})


def bounded(**hard):
    """The cluster with a quota; its running gang takes 3 pods and 24 GPUs of it."""
    source = PlannedCluster()
    source._objects["ResourceQuota"] = (RESOURCE_QUOTA, [quota(**hard)])
    return source


def test_what_a_quota_refuses_is_listed_and_the_plan_is_about_the_rest():
    report = asked(job(2), add_nodes=["1=n1"], source=bounded(pods="4"))
    assert report.outcome is PlanOutcome.WAITS
    (refused,) = report.refused
    assert (refused.kind, refused.namespace) == ("Pod", "team")
    assert "exceeded quota: small, requested: pods=1, used: pods=4, limited: pods=4" in refused.why
    assert [one.placed for one in report.submitted] == [0]
    told = report_lines(report, 0.0, has_question=True)[-1]
    assert told.startswith(f"would not be created: Pod team/{refused.name}: pods ")


def test_a_quota_with_room_changes_nothing():
    for source in (bounded(pods="5"), bounded(requests_storage="1Gi"), None):
        report = asked(job(2), add_nodes=["1=n1"], source=source)
        assert (report.outcome, report.refused) == (PlanOutcome.STARTS, ())


def test_nothing_is_created_where_the_quota_is_used_up():
    report = asked(job(2), add_nodes=["1=n1"], source=bounded(pods="3"))
    assert (report.outcome, report.submitted, len(report.refused)) == (PlanOutcome.WAITS, (), 2)
    assert "(and 1 more)" in report_lines(report, 0.0, has_question=True)[-1]


def test_what_is_thought_away_frees_its_quota():
    report = asked(job(2), without=["podgroup/running"], source=bounded(pods="3"))
    assert (report.outcome, report.refused) == (PlanOutcome.STARTS, ())


def test_quotas_are_part_of_a_snapshot(tmp_path):
    path = tmp_path / "cluster.snapshot"
    take_snapshot(bounded(pods="3"), path, is_anonymous=False)
    assert len(asked(job(1), source=read_snapshot(path)).refused) == 1


def test_draining_says_where_pods_would_run_again_and_which_could_not():
    report = asked(drain=["rack=r2"])
    (moved,) = report.affected
    assert (report.outcome, moved.name, moved.pods, moved.placed) == (PlanOutcome.WAITS, "running", 1, 0)
    more = asked(drain=["rack=r2"], add_nodes=["1=n1"])
    assert more.outcome is PlanOutcome.STARTS
    assert more.affected[0].nodes == {"n1-new-1": 1}
    assert asked(remove_nodes=["n3"]).affected[0].nodes == {"n4": 1}
    assert asked(drain=["node=n4"]).affected == ()


def test_waiting_work_that_a_change_lets_start_is_named():
    source = PlannedCluster(pods=[pod(f"w{n}", gpus=8) for n in (1, 2)])
    report = asked(source=source, add_nodes=["1=n1"])
    assert sorted(one.name for one in report.affected if one.placed) == ["w1", "w2"]


def test_what_is_wrong_with_a_question_is_named():
    with pytest.raises(Misuse, match="--add-nodes: 'four' is not NUMBER=NODE"):
        asked(add_nodes=["four"])
    with pytest.raises(Problem, match="--add-nodes: there is no node n9; there are n1, n2, n3, n4"):
        asked(add_nodes=["1=n9"])
    for too_many in (["10001=n1"], ["6000=n1", "6000=n2"], [f"{'9' * 5000}=n1"]):
        with pytest.raises(Misuse, match="--add-nodes: at most 10000 nodes can be added at once"):
            asked(add_nodes=too_many)
    with pytest.raises(Misuse, match="--drain: 'r1' is not rack=NAME"):
        asked(drain=["r1"])
    with pytest.raises(Problem, match=r"--drain: no node has topology.posse.dev/rack=r9; there are r1, r2"):
        asked(drain=["rack=r9"])
    with pytest.raises(Problem, match="--drain: no node has a label for its rack; use node=NAME"):
        asked(drain=["rack=r9"], source=ListedObjects(nodes=[node("n1")], groups=[], pods=[]))
    with pytest.raises(Problem, match='there is no PodGroup "other" in namespace team'):
        asked(without=["podgroup/other"])
    with pytest.raises(Problem, match=r"job.yaml: .*spec.template.spec.restartPolicy"):
        asked(job(1, restartPolicy="Always"))


def test_the_verb_answers_from_a_snapshot_with_an_exit_code(posse, tmp_path):
    path = tmp_path / "cluster.snapshot"
    take_snapshot(PlannedCluster(), path, is_anonymous=False)
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job(2)))
    words = ("plan", "-f", tmp_path / "job.yaml", "--snapshot", path, "-n", "team")
    waits = posse(*words)
    assert waits.code == 3
    assert waits.out.splitlines()[0].split() == [
        "NAMESPACE",
        "NAME",
        "KIND",
        "OUTCOME",
        "PODS",
        "RACK",
        "NODES",
    ]
    starts = posse(*words, "--add-nodes", "2=n1", "-o", "json")
    assert (starts.code, json.loads(starts.out)["outcome"]) == (0, "starts")
    assert posse(*words, "--priority", "5").code == 4
    assert posse("plan", "--snapshot", path).code == 2
    assert posse("plan", "--drain", "rack=r1", "--priority", "1", "--snapshot", path).code == 2


def test_changes_say_that_what_waits_ahead_comes_first():
    ahead = [pod(f"a{n}", group="ahead", gpus=8) for n in (1, 2)]
    source = PlannedCluster(pods=ahead)
    source._objects["PodGroup"][1].append(gang("ahead", 2))
    (planned,) = asked(job(2), source=source).submitted
    assert planned.outcome is PlanOutcome.WAITS
    assert planned.changes
    assert planned.caveat.startswith("What waits ahead of it in the queue comes first")
    assert not asked(job(2)).submitted[0].caveat


def test_a_priority_that_no_pod_can_have_is_refused():
    with pytest.raises(Problem, match=r"train.*priority: must be at most 2147483647"):
        asked(job(1), overrides=Overrides(priority=99_999_999_999))
