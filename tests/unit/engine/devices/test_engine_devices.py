"""Pods with device claims, from first sight to binding, through the engine as the outside uses it."""

from posse.engine.decisions import AllocateClaims, Bind, ReleaseClaim, ReportGroup
from posse.engine.events import ClaimWritten, ReleaseFailed
from posse.engine.keys import ClaimKey
from posse.model.meta import Condition
from posse.model.pod import PodResourceClaim
from posse.model.resource_claim import AllocatedDeviceStatus
from posse.model.workload import PodGroupResourceClaim
from tests.support.builders import changed, gang, node, nodes, pod
from tests.support.device_objects import (
    allocations,
    claiming,
    device,
    device_claim,
    device_class,
    exact,
    first_of,
    given,
    matching,
    on_node,
    pod_with_own,
    pods_with_own,
    released,
    resource_slice,
    written,
)
from tests.support.engine_driver import Driver, binds, evicted, nominated, placements, pod_reports


def test_a_pod_gets_a_device_with_its_node():
    one, claims = pod_with_own()
    decisions = Driver(node("n1"), node("n2"), device_class(), resource_slice("n2"), one, *claims).decide()
    assert placements(decisions) == {"p1": "n2"}
    assert allocations(decisions) == {"p1-gpu0": ["n2/d1"]}
    [claim] = binds(decisions)[0].claims
    assert [(one.resource, one.name, one.uid) for one in claim.consumers] == [("pods", "p1", "uid-p1")]


def test_a_device_is_given_once():
    pods, claims = pods_with_own(3)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 2), *claims, *pods)
    decisions = driver.decide()
    assert allocations(decisions) == {"p1-gpu0": ["n1/d1"], "p2-gpu0": ["n1/d2"]}
    assert "cannot allocate all claims" in pod_reports(decisions)["p3"][1]


def test_a_device_comes_free_when_the_claim_is_released_not_when_the_pod_is_gone():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1), *claims, *pods)
    bound = binds(driver.decide())[0]
    driver.confirm(pods[0], on="n1")
    driver.see(allocated := written(claims[0], bound.claims[0]))
    driver.lose(pods[0])
    assert driver.bind() == {}
    driver.see(released(allocated))
    assert driver.bind() == {"p2": "n1"}


def test_devices_that_are_being_written_are_held_though_the_pod_is_gone():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1), *claims, *pods)
    bound = binds(driver.engine.decide(driver.now))[0]
    driver.lose(pods[0])
    assert driver.bind() == {}
    # The write came through: the claim holds its device until it is released.
    allocated = written(claims[0], bound.claims[0])
    driver.engine.absorb(ClaimWritten(bound.claims[0].claim, allocated))
    assert driver.bind() == {}
    driver.see(released(allocated))
    assert driver.bind() == {"p2": "n1"}


def test_devices_of_a_write_that_failed_come_free_when_that_is_known():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1), *claims, *pods)
    bound = binds(driver.engine.decide(driver.now))[0]
    driver.lose(pods[0])
    assert driver.bind() == {}
    driver.engine.absorb(ClaimWritten(bound.claims[0].claim, claims[0]))
    assert driver.bind() == {"p2": "n1"}


def test_an_answer_that_shows_a_deleted_claim_holds_no_device():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1), *claims, *pods)
    bound = binds(driver.engine.decide(driver.now))[0]
    driver.lose(pods[0], claims[0])
    # The claim was written, and deleted before the answer was read.
    allocated = written(claims[0], bound.claims[0])
    driver.engine.absorb(ClaimWritten(bound.claims[0].claim, allocated))
    assert driver.bind() == {"p2": "n1"}


def test_a_claim_made_again_under_the_name_of_a_deleted_one_is_seen():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1), *claims, *pods)
    bound = binds(driver.engine.decide(driver.now))[0]
    driver.lose(pods[0], claims[0])
    allocated = written(claims[0], bound.claims[0])
    driver.see(changed(allocated, metadata={"uid": "another"}))
    driver.engine.absorb(ClaimWritten(bound.claims[0].claim, allocated))
    assert driver.bind() == {}


def test_an_older_version_of_a_claim_is_no_news():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1), *claims, *pods)
    bound = binds(driver.decide())[0]
    allocated = changed(written(claims[0], bound.claims[0]), metadata={"resource_version": "9"})
    driver.see(allocated)
    driver.lose(pods[0])
    driver.see(changed(claims[0], metadata={"resource_version": "8"}))
    assert driver.bind() == {}


def test_the_rest_of_a_gang_that_did_not_start_gives_its_claims_back():
    pods, claims = pods_with_own(2, group="g1")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 2), gang(minimum=2), *claims, *pods)
    bound = binds(driver.decide())[0]
    driver.see(written(claims[0], bound.claims[0]))
    for one in pods:
        driver.refuse(one, "n1")
    driver.lose(pods[1])
    [release] = [one for one in driver.decide() if isinstance(one, ReleaseClaim)]
    assert release.claim.name == claims[0].metadata.name


def test_pods_that_wait_for_a_claim_say_so_and_start_once_it_is_there():
    one = pod("p1", resource_claims=claiming("c"))
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), one)
    assert 'resourceclaim "c" not found' in pod_reports(driver.decide())["p1"][1]
    driver.see(device_claim("c"))
    assert driver.bind() == {"p1": "n1"}


def test_a_missing_class_is_named_with_its_request():
    one, claims = pod_with_own("p1", (first_of("r", one=("ghost", 1), two=("gpu", 1)),))
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), one, *claims)
    assert "request r/one: device class ghost does not exist" in pod_reports(driver.decide())["p1"][1]
    driver.see(device_class("ghost"))
    assert driver.bind() == {"p1": "n1"}


def test_many_pods_that_share_a_claim_start_together_with_one_write():
    many = [pod(f"p{i}", resource_claims=claiming("c")) for i in range(150)]
    driver = Driver(node("n1", pods="200"), device_class(), resource_slice("n1"), device_claim("c"), *many)
    [bind] = binds(driver.decide())
    [claim] = bind.claims
    assert len(bind.placements) == len(claim.consumers) == 150


def test_members_of_a_gang_get_devices_together_or_not_at_all():
    pods, claims = pods_with_own(3, group="g1")
    driver = Driver(*nodes(2), device_class(), *(resource_slice(f"n{i}") for i in (1, 2)), gang(minimum=3))
    driver.see(*claims, *pods)
    assert not binds(driver.decide())
    driver.see(resource_slice("n1", [device("x")], pool="more"))
    decisions = driver.decide()
    [bind] = binds(decisions)
    assert isinstance(bind, Bind)
    assert sorted(one for given in allocations(decisions).values() for one in given) == [
        "more/x",
        "n1/d1",
        "n2/d1",
    ]


def test_devices_of_a_member_are_chosen_anew_if_another_needs_them():
    """In the order of the pool, the first member takes the only device that the second one can use."""
    devices = [device("both", attributes={"big": True}), device("small", attributes={"big": False})]
    any_one, any_claims = pod_with_own("p1", group="g1")
    only = exact("req", 1, 'device.attributes["dra.example.com"].big')
    big, big_claims = pod_with_own("p2", (only,), group="g1")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", devices), gang(minimum=2))
    driver.see(*any_claims, *big_claims, any_one, big)
    decisions = driver.decide()
    assert allocations(decisions) == {"p1-gpu0": ["n1/small"], "p2-gpu0": ["n1/both"]}


def test_two_names_for_one_claim_are_one_claim():
    entries = (*claiming("c"), changed(claiming("c")[0], name="again"))
    one = pod("p1", resource_claims=entries)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), device_claim("c"), one)
    [bind] = binds(driver.decide())
    assert len(bind.claims) == 1


def test_an_allocated_claim_confines_its_pods():
    claim = given(device_claim("c"), "n1/d1")
    one = pod("p1", resource_claims=claiming("c"))
    driver = Driver(*nodes(2), device_class(), resource_slice("n1"), resource_slice("n2"), claim, one)
    assert driver.bind()["p1"] in {"n1", "n2"}


def test_a_constraint_keeps_the_devices_of_a_claim_together():
    devices = [device(f"d{i}", attributes={"numa": i % 2}) for i in range(4)]
    one, claims = pod_with_own("p1", (exact("req", 2),))
    claims = [
        changed(
            claims[0],
            spec=changed(claims[0].spec, devices={"constraints": (matching("dra.example.com/numa"),)}),
        )
    ]
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", devices), *claims, one)
    assert allocations(driver.decide()) == {"p1-gpu0": ["n1/d0", "n1/d2"]}


def running(driver, pod, claim, on="n1"):
    """Let the pod start with its claim, and the cluster show it."""
    driver.see(claim, pod)
    bind = binds(driver.decide())[0]
    driver.confirm(pod, on=on)
    driver.see(shown := written(claim, bind.claims[0]))
    return changed(pod, spec={"node_name": on}), shown


def test_a_pod_preempts_for_a_device_and_waits_until_the_claim_is_released():
    low, low_claims = pod_with_own("low", priority=1)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"))
    low, shown = running(driver, low, low_claims[0])
    high, high_claims = pod_with_own("high", priority=5)
    driver.see(*high_claims, high)
    assert evicted(driver.decide()) == ["low"]
    assert nominated(driver) == {"high": "n1"}
    driver.lose(low)
    decisions = driver.decide()
    assert (evicted(decisions), binds(decisions)) == ([], [])
    assert nominated(driver) == {"high": "n1"}
    driver.see(released(shown))
    assert driver.bind() == {"high": "n1"}


def test_only_the_pod_that_holds_the_needed_device_is_evicted():
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1))
    low, claims = pod_with_own("holder", priority=1)
    running(driver, low, claims[0])
    other = pod("other", cpu="1", priority=1)
    driver.see(other)
    driver.bind_and_confirm(other)
    high, high_claims = pod_with_own("high", priority=5)
    driver.see(*high_claims, high)
    assert evicted(driver.decide()) == ["holder"]


def test_a_gang_preempts_for_devices():
    driver = Driver(*nodes(2), device_class(), resource_slice("n1"), resource_slice("n2"))
    lows = []
    for name in ("a", "b"):
        low, claims = pod_with_own(name, priority=1)
        driver.see(claims[0], low)
        decisions = driver.decide()
        on = placements(decisions)[name]
        driver.confirm(low, on=on)
        lows.append((changed(low, spec={"node_name": on}), written(claims[0], binds(decisions)[0].claims[0])))
        driver.see(lows[-1][1])
    pods, claims = pods_with_own(2, group="g1", priority=5)
    driver.see(gang(minimum=2, priority=5), *claims, *pods)
    assert evicted(driver.decide()) == ["a", "b"]
    driver.lose(*(low for low, _ in lows))
    assert evicted(driver.decide()) == []
    driver.see(*(released(shown) for _, shown in lows))
    assert sorted(driver.bind(after=2.0)) == ["p1", "p2"]
    assert not nominated(driver)


def test_a_nominated_pod_holds_its_device_against_lower_priorities():
    low, low_claims = pod_with_own("low", priority=1)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"))
    low, shown = running(driver, low, low_claims[0])
    high, high_claims = pod_with_own("high", priority=5)
    driver.see(*high_claims, high)
    driver.decide()
    driver.lose(low)
    late, late_claims = pod_with_own("late", priority=1)
    driver.see(*late_claims, late, released(shown))
    assert driver.bind() == {"high": "n1"}


def test_an_allocation_that_keeps_its_only_pod_away_from_other_nodes_is_released():
    stale = given(device_claim("c"), "n1/d1", selector=on_node("n1"))
    one = pod("p1", cpu="1", resource_claims=claiming("c"))
    full = pod("full", cpu="4", on="n1")
    driver = Driver(*nodes(2), device_class(), resource_slice("n1"), resource_slice("n2"), full, stale, one)
    decisions = driver.decide()
    assert [(d.claim.name, d.deallocates) for d in decisions if isinstance(d, ReleaseClaim)] == [("c", True)]
    driver.see(released(stale))
    assert driver.bind() == {"p1": "n2"}


def test_an_allocation_whose_release_is_under_way_is_written_again_before_it_is_used():
    """The release may come before the binding or not at all: nothing is known of it yet."""
    stale = given(device_claim("c"), "n1/d1", selector=on_node("n1"), to=["p1"])
    one = pod("p1", cpu="1", resource_claims=claiming("c"))
    full = pod("full", cpu="4", on="n1")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), full, stale, one)
    assert [type(one) for one in driver.decide() if isinstance(one, ReleaseClaim)]
    driver.lose(full)
    [bind] = binds(driver.decide())
    [claim] = bind.claims
    assert [one.name for one in claim.consumers] == ["p1"]
    assert claim.allocation == stale.status.allocation


def test_an_allocation_that_others_use_is_not_released():
    used = given(device_claim("c"), "n1/d1", selector=on_node("n1"), to=["full"])
    one = pod("p1", cpu="1", resource_claims=claiming("c"))
    full = pod("full", cpu="4", on="n1", resource_claims=claiming("c"))
    driver = Driver(*nodes(2), device_class(), resource_slice("n1"), resource_slice("n2"), full, used, one)
    decisions = driver.decide()
    assert not [one for one in decisions if isinstance(one, ReleaseClaim)]
    assert "resourceclaim not available on the node" in pod_reports(decisions)["p1"][1]


def slow_device(**conditions):
    return device(
        "d1", binding_conditions=("attached",), binding_failure_conditions=("failed",), **conditions
    )


def with_condition(claim, kind):
    result = claim.status.allocation.devices.results[0]
    report = AllocatedDeviceStatus(
        driver=result.driver,
        pool=result.pool,
        device=result.device,
        conditions=(Condition(type=kind, status="True"),),
    )
    return changed(claim, status={"devices": (report,)})


def test_a_pod_is_bound_once_its_device_is_ready():
    one, claims = pod_with_own()
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", [slow_device()]), *claims, one)
    [step] = [d for d in driver.decide() if isinstance(d, AllocateClaims)]
    driver.see(shown := written(claims[0], step.claims[0]))
    assert driver.bind() == {}
    driver.see(with_condition(shown, "attached"))
    assert driver.bind() == {"p1": "n1"}


def test_a_device_that_does_not_get_ready_is_given_up():
    one, claims = pod_with_own()
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", [slow_device()]), *claims, one)
    [step] = [d for d in driver.decide() if isinstance(d, AllocateClaims)]
    driver.see(shown := written(claims[0], step.claims[0]))
    driver.see(with_condition(shown, "failed"))
    decisions = driver.decide()
    assert released_claims(decisions) == ["p1-gpu0"]
    assert pod_reports(decisions)["p1"] == (
        "SchedulerError",
        "waiting for devices: claim test/p1-gpu0, request req: device dra.example.com/n1/d1: failed",
    )


def test_devices_that_take_too_long_are_given_up():
    one, claims = pod_with_own()
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", [slow_device()]), *claims, one)
    [step] = [d for d in driver.decide() if isinstance(d, AllocateClaims)]
    driver.see(written(claims[0], step.claims[0]))
    driver.now += 601.0
    decisions = driver.decide()
    assert released_claims(decisions) == ["p1-gpu0"]
    assert "claim test/p1-gpu0: not ready after 600 seconds" in pod_reports(decisions)["p1"][1]


def released_claims(decisions):
    return [one.claim.name for one in decisions if isinstance(one, ReleaseClaim)]


def test_a_release_that_failed_is_decided_again():
    unused = given(device_claim("c"), "n1/d1", to=("p1",), selector=on_node("n1"))
    here = pod("p1", resource_claims=claiming("c"), node_selector={"kubernetes.io/hostname": "n2"})
    named = [node(name, labels={"kubernetes.io/hostname": name}) for name in ("n1", "n2")]
    driver = Driver(*named, device_class(), resource_slice("n1"), resource_slice("n2"), unused, here)
    decided = driver.decide()
    assert released_claims(decided) == ["c"]
    driver.now += 60.0
    assert released_claims(driver.decide()) == []
    driver.engine.absorb(ReleaseFailed(ClaimKey("test", "c")))
    driver.decide()
    driver.now += 60.0
    assert released_claims(driver.decide()) == ["c"]


def test_a_selector_that_fails_on_a_device_is_an_error_with_its_place():
    asks = exact("req", 1, 'device.attributes["dra.example.com"].healthy')
    one, claims = pod_with_own("p1", (asks,))
    sick = resource_slice("n2", [device("d1")])
    well = resource_slice("n1", [device("d1", attributes={"healthy": True})])
    driver = Driver(*nodes(2), device_class(), well, sick, *claims, one)
    reason, message = pod_reports(driver.decide())["p1"]
    assert reason == "SchedulerError"
    assert "selector #0 on device dra.example.com/n2/d1: CEL runtime error: no such key: healthy" in message
    driver.see(resource_slice("n2", [device("d1", attributes={"healthy": False})]))
    assert driver.bind() == {"p1": "n1"}


def test_an_extended_resource_that_a_class_stands_for_is_served_with_a_claim_of_its_own():
    one = pod("p1", cpu="1", requests={"example.com/gpu": 2})
    driver = Driver(*nodes(2), device_class(extended="example.com/gpu"), resource_slice("n2", 2), one)
    decisions = driver.decide()
    assert placements(decisions) == {"p1": "n2"}
    [claim] = binds(decisions)[0].claims
    assert claim.claim.name.startswith("p1-extended-resources-")
    assert [(m.container_name, m.resource_name, m.request_name) for m in claim.created.mappings] == [
        ("c", "example.com/gpu", "container-0-request-1")
    ]
    assert [one.device for one in claim.allocation.devices.results] == ["d1", "d2"]
    late = pod("p2", requests={"example.com/gpu": 1})
    driver.see(late)
    assert driver.bind() == {}
    driver.lose(one)
    assert driver.bind() == {"p2": "n2"}


def test_a_node_that_offers_an_extended_resource_itself_needs_no_claim():
    plugin, bare = node("n1", **{"example.com/gpu": 1}), node("n2")
    driver = Driver(plugin, bare, device_class(extended="example.com/gpu"))
    driver.see(pod("p1", requests={"example.com/gpu": 1}))
    [bind] = binds(driver.decide())
    assert (bind.placements[0].node, bind.claims) == ("n1", ())
    driver.see(resource_slice("n2", 1), pod("p2", requests={"example.com/gpu": 1}))
    assert driver.bind() == {"p2": "n2"}


def test_every_class_has_an_extended_resource_by_its_name():
    one = pod("p1", requests={"deviceclass.resource.kubernetes.io/gpu": 1})
    assert Driver(*nodes(1), device_class(), resource_slice("n1"), one).bind() == {"p1": "n1"}


def test_a_group_claim_is_reserved_for_the_group():
    group = gang(minimum=2, resource_claims=(PodGroupResourceClaim(name="entry-c", resource_claim_name="c"),))
    members = [pod(f"p{i}", group="g1", resource_claims=claiming("c", "own")) for i in (1, 2)]
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 2), group, *members)
    driver.see(device_claim("c"), device_claim("own"))
    [bind] = binds(driver.decide())
    consumers = {one.claim.name: [(c.resource, c.name) for c in one.consumers] for one in bind.claims}
    assert consumers == {"c": [("podgroups", "g1")], "own": [("pods", "p1"), ("pods", "p2")]}


def test_devices_on_which_a_selector_fails_make_waiting_pods_errors_when_they_come():
    asks = exact("req", 1, 'device.attributes["dra.example.com"].healthy')
    one, claims = pod_with_own("p1", (asks,))
    driver = Driver(*nodes(1), device_class(), *claims, one)
    assert pod_reports(driver.decide())["p1"][0] == "Unschedulable"
    driver.see(resource_slice("n1", [device("d1")]))
    assert pod_reports(driver.decide())["p1"][0] == "SchedulerError"


def test_a_claim_that_goes_while_its_pod_waits_is_named():
    one = pod("p1", resource_claims=claiming("c"))
    claim = device_claim("c", exact("req", 2))
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), claim, one)
    driver.decide()
    driver.lose(claim)
    assert 'resourceclaim "c" not found' in pod_reports(driver.decide())["p1"][1]


def test_a_refused_binding_gives_the_devices_back():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), *claims, *pods)
    assert driver.bind() == {"p1": "n1"}
    driver.refuse(pods[0], "n1")
    assert set(driver.bind(after=60.0)) <= {"p1", "p2"}


def test_a_rolled_back_attempt_leaves_no_trace():
    pods, claims = pods_with_own(3, group="g1")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 2), gang(minimum=3), *claims, *pods)
    driver.decide()
    devices = driver.engine._knowledge.state.devices
    assert not devices.held.promises
    assert not devices.proposals.open_rows
    single, own = pod_with_own("single", (exact("req", 2),))
    driver.see(*own, single)
    assert driver.bind() == {"single": "n1"}


def test_pods_on_several_nodes_share_a_device_of_the_network():
    """The first member could take a local device; only that of the network serves both."""
    local = resource_slice("n1", [device("local")], pool="a")
    fabric = resource_slice("", [device("fabric")], pool="z", all_nodes=True)
    members = [pod(f"p{i}", cpu="3", group="g1", resource_claims=claiming("c")) for i in (1, 2)]
    driver = Driver(*nodes(2), device_class(), local, fabric, device_claim("c"), gang(minimum=2), *members)
    decisions = driver.decide()
    assert allocations(decisions) == {"c": ["z/fabric"]}
    assert sorted(placements(decisions).values()) == ["n1", "n2"]


def test_devices_may_change_after_a_claim_and_its_pods_are_gone():
    one = pod("p1", resource_claims=claiming("c"))
    claim = device_claim("c")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), claim, one)
    driver.decide()
    driver.lose(one, claim)
    driver.lose(resource_slice("n1"))
    assert driver.decide() == []


def test_a_pod_whose_claim_is_gone_wants_nothing_that_could_be_named():
    one = pod("p1", resource_claims=claiming("c"))
    claim = device_claim("c", exact("req", 2))
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), claim, one)
    devices = driver.engine._knowledge.state.devices
    driver.see(pod("p2", resource_claims=claiming("c")))
    needs = devices.needs(one)
    driver.lose(claim)
    assert devices.wants(needs) == []


def one_entry(name, claim):
    return pod(name, resource_claims=(PodResourceClaim(name=f"of-{name}", resource_claim_name=claim),))


def test_pods_with_a_claim_each_are_of_one_class_whoever_made_the_claims():
    pods = [one_entry(f"p{i}", f"c{i}") for i in (1, 2)]
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 2))
    driver.see(device_claim("c1"), device_claim("c2"), *pods)
    assert len({record.pod_class for record in driver.engine._knowledge.pods.values()}) == 1
    decisions = driver.decide()
    assert allocations(decisions) == {"c1": ["n1/d1"], "c2": ["n1/d2"]}


def test_pods_of_one_class_are_told_the_names_of_their_own_claims():
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"))
    driver.see(*(device_claim(f"c{i}") for i in (1, 2, 3)), *(one_entry(f"p{i}", f"c{i}") for i in (1, 2, 3)))
    reports = pod_reports(driver.decide())
    assert {name: f"Claim test/c{name[1]}, request req" in text for name, (_, text) in reports.items()} == {
        "p2": True,
        "p3": True,
    }
    broken = device_class("gpu", 'device.attributes["dra.example.com"].healthy')
    driver.see(broken, resource_slice("n1", 2))
    reports = pod_reports(driver.decide(60.0))
    for name in ("p2", "p3"):
        assert f"request req: claim test/c{name[1]}: class gpu: selector #0" in reports[name][1]


def test_a_claim_that_a_second_pod_uses_is_shared():
    """The first pod waits; both start with one device when there is room."""
    first, second = one_entry("p1", "c"), one_entry("p2", "c")
    driver = Driver(device_class(), device_claim("c"), first)
    assert driver.bind() == {}
    driver.see(second, node("n1"), node("n2"), resource_slice("n1", 2), resource_slice("n2", 2))
    decisions = driver.decide()
    [nodes_of_both] = [placements(decisions)]
    assert len(set(nodes_of_both.values())) == 1
    assert len(nodes_of_both) == 2
    assert len(allocations(decisions)["c"]) == 1


def test_a_pod_joins_another_whose_claim_was_its_own():
    """The first pod has its node and device, though the cluster does not show that yet."""
    driver = Driver(*nodes(3), device_class(), *(resource_slice(f"n{i}") for i in (1, 2, 3)))
    driver.see(device_claim("c"), one_entry("p1", "c"))
    first = driver.bind()
    driver.see(one_entry("p2", "c"))
    assert driver.bind() == {"p2": first["p1"]}


def sharers(count, **description):
    return [pod(f"p{i}", resource_claims=claiming("c"), **description) for i in range(1, count + 1)]


def test_a_claim_is_reserved_for_256_pods_at_most():
    driver = Driver(*nodes(3, cpu="100"), device_class(), resource_slice("", 1, all_nodes=True))
    claim, pods = device_claim("c"), sharers(258)
    driver.see(claim, *pods)
    decisions = driver.decide()
    [bind] = binds(decisions)
    assert len(bind.placements) == len(bind.claims[0].consumers) == 256
    text = 'resourceclaim "c" cannot be reserved for more than 256 pods'
    assert pod_reports(decisions) == dict.fromkeys(("p257", "p258"), ("SchedulerError", text))
    for one, placed in zip(pods, bind.placements, strict=False):
        driver.confirm(one, on=placed.node)
    driver.see(full := written(claim, bind.claims[0]))
    reports = pod_reports(driver.decide(60.0))
    assert all('"c" is reserved for 256 pods, and cannot be for more' in text for _, text in reports.values())
    driver.lose(pods[0])
    driver.see(changed(full, status={"reserved_for": full.status.reserved_for[1:]}))
    assert list(driver.bind(60.0)) == ["p257"]


def test_a_gang_with_too_many_pods_for_a_claim_does_not_start():
    driver = Driver(*nodes(3, cpu="100"), device_class(), resource_slice("", 1, all_nodes=True))
    driver.see(device_claim("c"), gang(minimum=257), *sharers(257, group="g1"))
    decisions = driver.decide()
    assert not binds(decisions)
    assert not [one for one in decisions if isinstance(one, ReportGroup) and one.scheduled]
    assert len(pod_reports(decisions)) == 257


def test_a_claim_of_the_group_is_shared_by_any_number():
    group = gang(
        minimum=257, resource_claims=(PodGroupResourceClaim(name="entry-c", resource_claim_name="c"),)
    )
    driver = Driver(*nodes(3, cpu="100"), device_class(), resource_slice("", 1, all_nodes=True))
    driver.see(device_claim("c"), group, *sharers(257, group="g1"))
    assert len(driver.bind()) == 257


def test_gangs_that_share_a_claim_do_not_exceed_its_reservations_together():
    driver = Driver(*nodes(5, cpu="100"), device_class(), resource_slice("", 1, all_nodes=True))
    members = [
        pod(f"p{i}", resource_claims=claiming("c"), group="g1" if i <= 200 else "g2") for i in range(1, 401)
    ]
    driver.see(device_claim("c"), gang("g1", minimum=200), gang("g2", minimum=200), *members)
    decisions = driver.decide()
    [bind] = binds(decisions)
    assert [placed.pod.name for placed in bind.placements] == [f"p{i}" for i in range(1, 201)]
    assert list(pod_reports(decisions)) == [f"p{i}" for i in range(201, 401)]
