"""posse explain and posse gangs, asked of an embedded cluster with two nodes."""

import json
import time

import pytest
import yaml

from posse.cli.up.examples import examples_dir

PATIENCE_SECONDS = 20.0


def manifest(kind, name, version="v1", namespace="default", metadata=None, **spec):
    whole = {"name": name, "namespace": namespace, **(metadata or {})}
    return {"apiVersion": version, "kind": kind, "metadata": whole, "spec": spec}


def gang(name, minimum, **where):
    policy = {"gang": {"minCount": minimum}}
    return manifest("PodGroup", name, "scheduling.k8s.io/v1beta1", schedulingPolicy=policy, **where)


def pod(name, group="", cpu="1", **spec):
    member = {"schedulingGroup": {"podGroupName": group}} if group else {}
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    return manifest("Pod", name, containers=[container], **member, **spec)


@pytest.fixture
def cluster(posse, kubeconfig):
    """Call the command on the cluster; what a test puts there is gone afterwards."""
    applied = []

    def put(*objects):
        text = yaml.safe_dump_all(objects)
        applied.append(text)
        result = posse("apply", "--kubeconfig", kubeconfig, "-f", "-", stdin=text)
        assert result.code == 0, result.err

    def call(*words):
        return posse(*words, "--kubeconfig", kubeconfig)

    call.put = put
    call.kubeconfig = kubeconfig
    yield call
    for text in reversed(applied):
        posse("delete", "--kubeconfig", kubeconfig, "-f", "-", stdin=text)


def until(cluster, words, *texts):
    """Ask until the answer has all of these texts: the scheduler works at the same time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        result = cluster(*words)
        if all(text in result.out for text in texts):
            return result.out
        assert time.monotonic() < deadline, result
        time.sleep(0.05)


def test_a_started_gang(cluster):
    cluster.put(gang("trainer", 2), pod("a", "trainer"), pod("b", "trainer"))
    story = until(cluster, ["explain", "podgroup/trainer"], "has started", "=True", "Scheduled  pod/a")
    first, described, counts = story.splitlines()[:3]
    assert first == "PodGroup default/trainer has started: all 2 pods are on nodes."
    assert described.split(":")[0].split() == ["described", "by", "PodGroup", "of", "scheduling.k8s.io"]
    assert counts.split() == ["pods", "2:", "2", "on", "nodes"]
    assert "PodGroupInitiallyScheduled=True (Scheduled), since" in story


def test_a_gang_that_does_not_fit(cluster):
    workers = [pod(f"w{i}", "colossus", cpu="20") for i in range(4)]
    cluster.put(pod("other", cpu="20"))
    until(cluster, ["explain", "pod/other"], "is on node")
    cluster.put(gang("colossus", 4), *workers)
    told = "pod/w0: pod group is unschedulable, as above"
    story = until(cluster, ["explain", "pg", "colossus"], "Unschedulable", "FailedScheduling", told)
    assert story.startswith(
        "PodGroup default/colossus waits: only 1 of the 4 pods that must start together fit; with those placed, 3 lack cpu (20 each)"
    )
    assert "4 pods like w1 (cpu 20): 1 would fit, 3 would not" in story
    assert "2 nodes   Insufficient cpu   NodeResourcesFit" in story
    assert "closest, once those that fit are placed: node-000" in story
    assert "It is larger than the cluster" in story
    assert "pod default/other   20 with 1 pod   priority 0" in story
    assert "PodGroupInitiallyScheduled=False (Unschedulable), since" in story
    until(cluster, ["explain", "pg", "colossus"], "as above. Any of these would let it start")
    member = cluster("explain", "pod/w0").out
    assert member.startswith("Pod default/w0 waits: it is tried together with its group.")
    assert "Its group\n  PodGroup default/colossus waits: only 1 of the 4 pods" in member
    assert "posse explain podgroup.scheduling.k8s.io/colossus -n default" in member


def test_members_that_had_to_make_room_say_for_whom(cluster):
    stays = {"finalizers": ["example.com/slow"]}
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}}
    cluster.put(
        {**urgent, "value": 1000},
        gang("meek", 2),
        *(pod(f"m{i}", "meek", "20", metadata=stays) for i in (1, 2)),
    )
    until(cluster, ["explain", "pg/meek"], "all 2 pods are on nodes")
    cluster.put(*(pod(f"v{i}", cpu="20", priorityClassName="urgent") for i in (1, 2)))
    left = "none of the 2 pods it needs are left: 2 failed (2 preempted)."
    story = until(cluster, ["explain", "pg/meek"], left, "Preempted for\n  pod default/v")
    assert "pods           2: 2 failed" in story
    victim = cluster("explain", "pod/m1").out
    assert "DisruptionTarget=True (PreemptionByScheduler), since" in victim
    assert ": default-scheduler: preempting to accommodate a higher priority pod default/v" in victim
    assert "Preempted for\n  pod default/v" in victim
    cluster.put(*(pod(f"m{i}", "meek", "20", metadata={"finalizers": None}) for i in (1, 2)))
    until(cluster, ["explain", "pg/meek"], "has started, and none of its pods is left.")


def test_what_is_held_says_what_it_waits_for(cluster):
    cluster.put(
        gang("short", 3),
        pod("s1", "short"),
        pod("lost", "nowhere"),
        gang("shut", 1),
        pod("g1", "shut", schedulingGates=[{"name": "example.com/wait"}]),
    )
    assert "waits for pods: 1 of the 3 pods it needs exist." in cluster("explain", "pg/short").out
    lost = cluster("explain", "pg/nowhere").out
    assert "cannot be tried: PodGroup nowhere does not exist yet. It is named by 1 pod." in lost
    assert "described by   nothing yet" in lost
    shut = "is gated: 1 of its pods has scheduling gates: g1 (example.com/wait)."
    assert shut in cluster("explain", "pg/shut").out
    member = cluster("explain", "pod/g1").out
    assert member.startswith("Pod default/g1 waits: it has scheduling gates (example.com/wait).")
    assert shut in member
    assert "PodGroup nowhere does not exist yet" in cluster("explain", "pod/lost").out


def test_single_pods(cluster):
    cluster.put(
        pod("picky", nodeSelector={"disk": "fast"}),
        pod("shut", schedulingGates=[{"name": "example.com/wait"}]),
        pod("foreign", schedulerName="somebody-else"),
    )
    picky = until(cluster, ["explain", "pod/picky"], "FailedScheduling")
    assert picky.startswith("Pod default/picky waits: it finds no node: 2 node(s) didn't match Pod")
    assert "2 nodes   node(s) didn't match Pod's node affinity/selector   NodeAffinity" in picky
    assert "Preemption\n  0/2 nodes are available: 2 Preemption is not helpful for scheduling." in picky
    assert "PodScheduled=False (Unschedulable), since" in picky
    assert "waits: it has scheduling gates (example.com/wait)." in cluster("explain", "pod/shut").out
    foreign = cluster("explain", "pod/foreign").out
    assert foreign.startswith("Pod default/foreign is not scheduled by Posse")
    assert "somebody-else" in foreign
    assert "invalid" not in foreign


@pytest.mark.parametrize(
    ("example", "target", "form"),
    [
        ("workload-ref", "workload/{name}", "workloadRef"),
        ("posse-label", "podgroup.scheduling.posse.dev/{name}", "scheduling.posse.dev"),
        ("coscheduling", "podgroup.scheduling.x-k8s.io/{name}", "scheduling.x-k8s.io"),
        ("volcano", "podgroups.scheduling.volcano.sh/{name}", "scheduling.volcano.sh"),
    ],
)
def test_groups_of_every_form_are_found(cluster, example, target, form):
    objects = list(yaml.safe_load_all((examples_dir() / "membership" / f"{example}.yaml").read_text()))
    cluster.put(*objects)
    name = next(obj["metadata"]["name"] for obj in objects if obj["kind"] in {"PodGroup", "Workload"})
    story = until(cluster, ["explain", target.format(name=name)], "created")
    assert name in story.splitlines()[0]
    listed = json.loads(cluster("gangs", "-o", "json").out)
    assert form in {line["form"] for line in listed}


def test_every_replica_of_a_workload_has_a_story_and_a_name_of_its_own(cluster):
    objects = list(yaml.safe_load_all((examples_dir() / "membership" / "replica-keys.yaml").read_text()))
    cluster.put(*objects)
    both = cluster("explain", "workload/jobset").out
    assert "replica key-1, of Workload default/jobset" in both
    assert "replica key-2, of Workload default/jobset" in both
    one = cluster("explain", "workload/jobset/job-1/key-2").out
    assert "replica key-1" not in one.splitlines()[0]
    assert "replica key-2" in one.splitlines()[0]


def test_the_list_has_those_that_wait_first(cluster):
    cluster.put(gang("alpha", 1), pod("a1", "alpha"), gang("beta", 1), pod("b1", "beta", cpu="500"))
    table = until(cluster, ["gangs", "-o", "wide"], "beta", "alpha", "1/1").splitlines()
    assert table[0].split()[:5] == ["NAME", "FORM", "STATE", "READY", "MEMBERS"]
    # What other tests have left behind may still be ending.
    beta, alpha = (line for line in table if line.startswith(("alpha", "beta")))
    assert beta.split()[:5] == ["beta", "scheduling.k8s.io", "Waiting", "0/1", "1"]
    assert "none of its waiting pods fits: 1 lacks cpu (500): 2 nodes have " in beta
    assert alpha.split()[:5] == ["alpha", "scheduling.k8s.io", "Scheduled", "1/1", "1"]


def test_the_list_does_not_count_towards_a_minimum_that_a_group_does_not_have(cluster):
    loose = manifest("PodGroup", "loose", "scheduling.k8s.io/v1beta1", schedulingPolicy={"basic": {}})
    cluster.put(loose, pod("l1", "loose"), pod("l2", "loose"))
    until(cluster, ["explain", "pg/loose"], "all 2 pods are on nodes")
    table = cluster("gangs", "-o", "wide").out.splitlines()
    (line,) = (line for line in table if line.startswith("loose"))
    assert line.split()[2:5] == ["Scheduled", "2", "2"]


def test_the_list_can_be_had_for_programs_and_for_all_namespaces(cluster):
    cluster.put(manifest("Namespace", "team", metadata={"namespace": None}))
    cluster.put(gang("there", 2, namespace="team"))
    (line,) = json.loads(cluster("gangs", "-n", "team", "-o", "json").out)
    assert {name: line[name] for name in ("namespace", "name", "state", "onNodes", "minimum", "members")} == {
        "namespace": "team",
        "name": "there",
        "state": "WaitingForPods",
        "onNodes": 0,
        "minimum": 2,
        "members": 0,
    }
    everywhere = cluster("gangs", "-A").out.splitlines()
    assert everywhere[0].startswith("NAMESPACE")
    assert everywhere[1].split()[:2] == ["team", "there"]
    elsewhere = cluster("explain", "pg/there")
    assert elsewhere.err == (
        'Error: there is no PodGroup "there" in namespace default; there is one in team (use -n)\n'
    )


def test_an_empty_list_says_so(cluster):
    nothing = cluster("gangs", "-n", "kube-system")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "No groups found in kube-system namespace.\n")
    assert json.loads(cluster("gangs", "-n", "kube-system", "-o", "json").out) == []


def test_a_name_that_two_forms_share_must_be_told_apart(cluster):
    other = manifest("PodGroup", "twin", "scheduling.x-k8s.io/v1alpha1", minMember=2)
    cluster.put(gang("twin", 2), other)
    unclear = cluster("explain", "podgroup/twin")
    assert unclear.code == 1
    assert unclear.err == (
        'Error: there are several PodGroups "twin" in default: '
        "use podgroup.scheduling.k8s.io/twin or podgroup.scheduling.x-k8s.io/twin\n"
    )
    assert "(scheduling.x-k8s.io)" in cluster("explain", "podgroup.scheduling.x-k8s.io/twin").out


def test_names_that_do_not_exist_are_answered_with_those_that_do(cluster):
    cluster.put(gang("known", 2))
    for words in (["pg/missing"], ["pg/with/slash"], ["podgroup", "missing"]):
        result = cluster("explain", *words)
        assert result.code == 1
        assert result.err.endswith("in namespace default; there are known\n")
    assert cluster("explain", "workload/none", "-n", "kube-system").err.endswith("there are none\n")
    assert cluster("explain", "pod/none").err.startswith('Error: there is no pod "none" in namespace default')


def test_half_of_the_name_of_a_group_of_a_workload_may_be_right(cluster):
    template = {"name": "a", "schedulingPolicy": {"gang": {"minCount": 2}}}
    cluster.put(manifest("Workload", "work", "scheduling.k8s.io/v1beta1", podGroupTemplates=[template]))
    answers = {
        "work": 'no pod and no PodGroup names Workload "work" in default yet, so it has no groups',
        "work/a": 'no pod names "a" of Workload "work" in default yet',
        "work/b": 'Workload "work" in default has no group "b"; there are a',
    }
    for name, answer in answers.items():
        assert cluster("explain", f"workload/{name}").err == f"Error: {answer}\n"


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["podgroup"], 2, "is not the name of an object"),
        (["podgroup/"], 2, "is not the name of an object"),
        (["/x"], 2, "is not the name of an object"),
        (["podgroup/a", "b"], 2, "is a second one"),
        (["node/node-0001"], 2, "nodes cannot be explained"),
        (["sausage/x"], 1, 'Posse knows no resource "sausage"'),
    ],
)
def test_awkward_questions(cluster, words, code, hint):
    result = cluster("explain", *words)
    assert (result.code, result.out) == (code, "")
    assert hint in result.err
    assert len(result.err.splitlines()) == 1


def test_contradictory_places_are_misuse(cluster):
    assert cluster("gangs", "-n", "a", "-A").code == 2


def test_the_names_of_the_running_scheduler_decide_which_pods_are_its_own(cluster):
    """A scheduler of another name would take these; here only `posse up` runs, which publishes its names."""
    cluster.put(gang("left", 2), *(pod(f"left-{n}", "left", cpu="900", schedulerName="other") for n in "ab"))
    assert "its pods are left to the scheduler 'other'" in cluster("explain", "podgroup/left").out
    assert "OtherScheduler" in cluster("gangs").out
    assert "is not scheduled by Posse" in cluster("explain", "pod/left-a").out


def test_pods_of_a_scheduler_that_is_named_are_taken_for_its_own(cluster):
    cluster.put(gang("left", 2), *(pod(f"left-{n}", "left", cpu="900", schedulerName="gangs") for n in "ab"))
    assert (
        "If that is Posse under another name, pass its --scheduler-name or --config."
        in cluster("explain", "pg/left").out
    )
    assert "OtherScheduler" in cluster("gangs").out
    named = ("--scheduler-name", "gangs")
    assert "What is in its way" in cluster("explain", "pg/left", *named).out
    assert "OtherScheduler" not in cluster("gangs", *named).out


def test_names_of_schedulers_beside_a_configuration_are_misuse(cluster, tmp_path):
    for words in (["gangs"], ["explain", "pg/x"]):
        assert cluster(*words, "--config", tmp_path / "c.yaml", "--scheduler-name", "x").code == 2


def test_the_rules_of_a_configuration_are_gone_by(cluster, tmp_path):
    cluster.put(pod("picky", nodeSelector={"disk": "fast"}))
    config = tmp_path / "config.yaml"
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "somebody-else"}],
    }
    config.write_text(yaml.safe_dump(document))
    told = cluster("explain", "pod/picky", "--config", config).out
    assert "is not scheduled by Posse: its schedulerName is 'default-scheduler'" in told
    config.write_text("kind: Nonsense")
    broken = cluster("explain", "pod/picky", "--config", config)
    assert broken.code == 1
    assert broken.err.startswith(f"Error: --config: {config} cannot be used:\n")


@pytest.mark.parametrize("words", [["gangs"], ["explain", "pg/x"]])
def test_without_a_cluster_the_answer_is_how_to_get_one(posse, words):
    result = posse(*words)
    assert (result.code, result.out) == (1, "")
    assert "posse up" in result.err


def test_annotations_that_make_no_sense_are_told_to_be_unused(cluster):
    stated = {"posse.dev/minimum-run-time": "ages", "posse.dev/preferred-topology": "example.com/room"}
    cluster.put(gang("hopeful", 1, metadata={"annotations": stated}), pod("h0", "hopeful"))
    event = "InvalidAnnotation  podgroup/hopeful: annotation posse.dev/minimum-run-time: 'ages' is not a duration such as 90m or 1h30m"
    story = until(cluster, ["explain", "pg/hopeful"], "has started", event)
    assert "  not used       annotation posse.dev/minimum-run-time: 'ages' is not a duration" in story
    unknown = "'example.com/room' is a label that no node has, so it has no effect"
    assert f"  not used       annotation posse.dev/preferred-topology: {unknown}" in story
    (found,) = json.loads(cluster("explain", "pg/hopeful", "-o", "json").out)
    assert [one.split(":")[0] for one in found["notUsed"]] == [f"annotation {name}" for name in stated]
