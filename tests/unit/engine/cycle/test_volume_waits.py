"""Claims that are bound together with their pod: what is decided, in which order, and what happens when it fails."""

from posse.engine.cycle.volume_waits import MAX_SECONDS
from posse.engine.decisions import BindVolumes, KeepVolume, ProvisionVolume, ReportGroup
from posse.engine.events import GroupReportFailed
from posse.engine.keys import ClaimKey
from tests.support.builders import NAMESPACE, changed, gang, node, nodes, pod
from tests.support.engine_driver import Driver, binds, group_reports, placements, pod_reports
from tests.support.storage_objects import (
    CLASSES,
    MADE,
    claim,
    csi_node,
    scratch,
    storage_class,
    using,
    volume,
)

HOSTS = [node(name, labels={"kubernetes.io/hostname": name}) for name in ("n1", "n2")]


def volume_steps(decisions):
    """What is to be done for whose claims: (pod, node, [(claim, volume or None)])."""
    return [
        (d.pod.name, d.node, [(s.claim.name, getattr(s, "volume", None)) for s in d.steps])
        for d in decisions
        if isinstance(d, BindVolumes)
    ]


def bound(name="c", to="v", **more):
    """The claim and the volume as the cluster shows them once they are bound."""
    return claim(name, volume=to, **more), volume(to, kept_for=name)


def test_a_pod_is_bound_after_its_claims():
    driver = Driver(*nodes(1), *CLASSES, claim(), volume(), pod("p", volumes=using("c")))
    decisions = driver.decide()
    assert binds(decisions) == []
    assert [d.steps for d in decisions if isinstance(d, BindVolumes)] == [
        (KeepVolume(ClaimKey(NAMESPACE, "c"), "claim-c", "v", "7", by_us=True),)
    ]
    assert driver.decide() == []
    driver.see(volume(kept_for="c", phase="Available"))
    assert driver.decide() == []
    driver.see(*bound())
    assert driver.bind() == {"p": "n1"}
    assert driver.decide() == []


def test_a_pod_whose_claims_are_bound_is_bound_at_once():
    driver = Driver(*nodes(1), *bound(), pod("p", volumes=using("c")))
    assert driver.bind() == {"p": "n1"}


def test_a_volume_that_is_promised_is_not_given_twice():
    pods = [pod(name, volumes=using(name)) for name in ("a", "b")]
    driver = Driver(*HOSTS, *CLASSES, claim("a"), claim("b"), volume("v", on=["n2"]), *pods)
    decisions = driver.decide()
    assert volume_steps(decisions) == [("a", "n2", [("a", "v")])]
    reason, message = pod_reports(decisions)["b"]
    assert reason == "Unschedulable"
    assert message.startswith(
        "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. preemption: "
    )


def test_pods_that_share_a_claim_follow_its_volume():
    pods = [pod(f"p{i}", "1", volumes=using("c")) for i in range(4)]
    driver = Driver(*HOSTS, *CLASSES, claim(), volume("v", on=["n1"]), volume("w", on=["n2"]), *pods)
    steps = volume_steps(driver.decide())
    assert len({(node, tuple(done)) for _, node, done in steps}) == 1
    assert len(steps) == 4


def test_a_refused_step_gives_the_promise_back():
    asking = pod("a", volumes=using("a"))
    driver = Driver(*nodes(1), *CLASSES, claim("a"), claim("b"), volume(), asking)
    assert volume_steps(driver.decide()) == [("a", "n1", [("a", "v")])]
    driver.refuse(asking, "n1")
    driver.see(pod("b", volumes=using("b")))
    assert volume_steps(driver.decide()) == [("b", "n1", [("b", "v")])]
    driver.see(volume("w"))
    assert volume_steps(driver.decide(after=60)) == [("a", "n1", [("a", "w")])]


def test_a_deleted_pod_gives_the_promise_back():
    asking = pod("a", volumes=using("a"))
    driver = Driver(*nodes(1), *CLASSES, claim("a"), claim("b"), volume(), asking)
    driver.decide()
    driver.lose(asking)
    driver.see(pod("b", volumes=using("b")))
    assert volume_steps(driver.decide()) == [("b", "n1", [("b", "v")])]
    driver.see(*bound("b"))
    assert driver.bind() == {"b": "n1"}


def test_a_volume_is_made_for_the_node_of_the_first_pod():
    pods = [pod(f"p{i}", "3", volumes=using("c")) for i in range(2)]
    driver = Driver(*nodes(2), *CLASSES, claim(of=MADE), *pods)
    decisions = driver.decide()
    (first,) = [d for d in decisions if isinstance(d, BindVolumes)]
    assert first.steps == (ProvisionVolume(ClaimKey(NAMESPACE, "c"), "claim-c", first.node),)
    assert "p1" in pod_reports(decisions)


def test_a_provisioner_that_gives_up_sends_the_pod_back():
    driver = Driver(*nodes(1), *CLASSES, claim(of=MADE), pod("p", volumes=using("c")))
    driver.decide()
    driver.see(claim(of=MADE, annotations={"volume.kubernetes.io/selected-node": "n1"}))
    assert driver.decide() == []
    driver.see(claim(of=MADE))
    decisions = driver.decide()
    assert pod_reports(decisions)["p"] == (
        "SchedulerError",
        'binding volumes: provisioning failed for PVC "c"',
    )
    assert volume_steps(decisions) == []
    assert volume_steps(driver.decide(after=2)) == [("p", "n1", [("c", None)])]


def test_a_volume_made_in_the_wrong_place_sends_the_pod_back():
    driver = Driver(
        *HOSTS,
        *CLASSES,
        claim(of=MADE),
        pod("p", volumes=using("c"), node_selector={"kubernetes.io/hostname": "n1"}),
    )
    driver.decide()
    driver.see(volume(of=MADE, on=["n2"], kept_for="c"), claim(of=MADE, volume="v"))
    assert pod_reports(driver.decide())["p"][1] == (
        'binding volumes: pv "v" node affinity doesn\'t match node "n1"'
    )


def test_a_volume_that_is_taken_away_again_sends_the_pod_back():
    driver = Driver(*nodes(1), *CLASSES, claim(), volume(), pod("p", volumes=using("c")))
    driver.decide()
    driver.see(volume(kept_for="c"))
    driver.decide()
    driver.see(volume(kept_for="other"))
    assert pod_reports(driver.decide())["p"] == (
        "SchedulerError",
        'binding volumes: ClaimRef got reset for pv "v"',
    )


def test_a_claim_or_node_that_goes_sends_the_pod_back():
    for lost, said in (
        (claim(), 'persistentvolumeclaim "c" not found'),
        (nodes(1)[0], 'node "n1" not found'),
    ):
        driver = Driver(*nodes(1), *CLASSES, claim(), volume(), pod("p", volumes=using("c")))
        driver.decide()
        driver.lose(lost)
        assert f"binding volumes: {said}" in [d.message for d in driver.decide() if hasattr(d, "message")]


def test_nobody_waits_for_ever():
    driver = Driver(*nodes(1), *CLASSES, claim(), volume(), pod("p", volumes=using("c")))
    driver.decide()
    assert driver.engine.next_wakeup() == driver.now + MAX_SECONDS
    assert driver.decide(after=MAX_SECONDS - 1) == []
    assert "not done after 600 seconds" in pod_reports(driver.decide(after=1))["p"][1]
    assert volume_steps(driver.decide(after=2)) == [("p", "n1", [("c", "v")])]


def test_a_pod_that_somebody_else_binds_is_left_alone():
    asking = pod("p", volumes=using("c"))
    driver = Driver(*nodes(2), *CLASSES, claim(), volume(), asking)
    ((_, chosen, _),) = volume_steps(driver.decide())
    driver.confirm(asking, on="n1" if chosen == "n2" else "n2")
    driver.see(*bound())
    assert driver.decide() == []


def test_a_gang_that_does_not_fit_holds_no_volumes():
    members = [pod(f"m{i}", "3", group="g1", volumes=using(f"m{i}")) for i in range(2)]
    claims = [claim("m0"), claim("m1"), claim("alone")]
    driver = Driver(node("n1", cpu="4"), *CLASSES, *claims, volume("v"), volume("w"), gang("g1", 2), *members)
    decisions = driver.decide()
    assert volume_steps(decisions) == []
    assert not driver.engine._knowledge.state.storage.book.has_promises
    driver.see(pod("alone", volumes=using("alone")))
    assert volume_steps(driver.decide()) == [("alone", "n1", [("alone", "v")])]


def gang_with_a_claim():
    members = [pod("plain", group="g1"), pod("stored", group="g1", volumes=using("c"))]
    return Driver(*nodes(1), *CLASSES, claim(), volume(), gang("g1", 2), *members)


def test_no_member_of_a_gang_is_bound_before_the_claims_of_all_are():
    driver = gang_with_a_claim()
    decisions = driver.decide()
    assert placements(decisions) == {}
    assert volume_steps(decisions) == [("stored", "n1", [("c", "v")])]
    assert group_reports(decisions) == []
    driver.see(*bound())
    decisions = driver.decide()
    (together,) = binds(decisions)
    assert sorted(placed.pod.name for placed in together.placements) == ["plain", "stored"]
    assert group_reports(decisions) == []
    records = driver.engine._knowledge.pods
    for placed in together.placements:
        driver.confirm(records[placed.pod.uid].pod, on=placed.node)
    assert group_reports(driver.decide()) == [("g1", True, "Scheduled", "")]


def test_that_a_gang_has_started_is_told_again_though_a_further_member_waits_for_its_claim():
    two = [pod(name, group="g1") for name in ("a", "b")]
    driver = Driver(*nodes(1), *CLASSES, claim(), volume(), gang("g1", 2), *two)
    (lost,) = [one for one in driver.decide() if isinstance(one, ReportGroup)]
    driver.confirm(*two, on="n1")
    driver.engine.absorb(GroupReportFailed(lost))
    driver.see(pod("stored", group="g1", volumes=using("c")))
    decisions = driver.decide()
    assert volume_steps(decisions) == [("stored", "n1", [("c", "v")])]
    assert group_reports(decisions) == [("g1", True, "Scheduled", "")]


def test_a_gang_of_which_a_claim_is_not_bound_gives_up_all_its_nodes():
    driver = gang_with_a_claim()
    driver.decide()
    decisions = driver.decide(after=601.0)
    assert binds(decisions) == []
    assert group_reports(decisions) == []
    assert not driver.engine._knowledge.state.nodes.requested.any()


def test_claims_wake_whom_they_concern():
    waiting = pod("p", volumes=using("c"))
    driver = Driver(*nodes(1), waiting)
    assert pod_reports(driver.decide())["p"][1].startswith(
        '0/1 nodes are available: persistentvolumeclaim "c" not found. preemption: '
    )
    driver.see(claim())
    assert "pod has unbound immediate PersistentVolumeClaims." in pod_reports(driver.decide(after=2))["p"][1]
    driver.see(storage_class(), volume())
    assert volume_steps(driver.decide(after=10)) == [("p", "n1", [("c", "v")])]


def test_a_limit_that_grows_wakes_whom_it_kept_away():
    full = [claim(volume="v"), volume(handle="h", kept_for="c"), csi_node("n1", 0)]
    driver = Driver(*nodes(1), *full, pod("p", volumes=using("c")))
    assert "1 node(s) exceed max volume count" in pod_reports(driver.decide())["p"][1]
    driver.see(csi_node("n1", 1))
    assert driver.bind(after=2) == {"p": "n1"}


def test_a_pod_of_higher_priority_gets_the_claim_for_one_pod():
    only = claim(volume="v", modes=("ReadWriteOncePod",))
    user = pod("user", on="n1", volumes=using("c"), priority=1)
    driver = Driver(
        *nodes(2), only, volume(kept_for="c"), user, pod("urgent", volumes=using("c"), priority=9)
    )
    decisions = driver.decide()
    assert [d.pod.name for d in decisions if type(d).__name__ == "Evict"] == ["user"]
    driver.lose(user)
    assert driver.bind(after=2) == {"urgent": "n1"}


def test_a_pod_waits_for_the_claim_that_is_made_for_it():
    mine = pod("p", volumes=(scratch("data"),))
    driver = Driver(*nodes(1), *CLASSES, mine)
    assert "waiting for ephemeral volume controller" in pod_reports(driver.decide())["p"][1]
    driver.see(claim("p-data", of=MADE, owner="uid-p"))
    assert volume_steps(driver.decide(after=2)) == [("p", "n1", [("p-data", None)])]


def test_a_change_of_labels_while_waiting_is_no_reason_to_start_over():
    asking = pod("p", volumes=using("c"))
    driver = Driver(*nodes(1), *CLASSES, claim(), volume(), asking)
    driver.decide()
    driver.see(changed(asking, metadata={"labels": {"app": "x"}}))
    assert volume_steps(driver.decide()) == []
    driver.see(*bound())
    assert driver.bind() == {"p": "n1"}
