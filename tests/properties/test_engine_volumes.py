"""Every rule about storage against its slow twin, and what pods are promised against a world where promises come true."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from posse.engine.decisions import BindVolumes, KeepVolume
from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.rules.context import SchedulingClass
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.rules.volume_binding import VolumeBinding, VolumePreference, VolumeZone
from posse.engine.rules.volume_limits import VolumeLimits, VolumeRestrictions
from posse.engine.state.draft import Draft
from tests.differential import storage_oracle as oracle
from tests.differential.storage_strategies import neighbours, pods, some_pods, worlds
from tests.support.effort import up_to
from tests.support.engine_driver import Driver, placements
from tests.support.storage_objects import made, put_on, record_in, state_with

MANY = settings(max_examples=max(100, up_to(400), settings().max_examples))
"""Much must come together before two claims compete for one volume."""
TWINS = {
    VolumeRestrictions: oracle.sharing,
    VolumeLimits: oracle.limits,
    VolumeBinding: oracle.binding,
    VolumeZone: oracle.zone,
}
HOPEFUL = {VolumeRestrictions, VolumeLimits}
"""Rules that an eviction could satisfy."""


def populated(world, there):
    state = state_with(*world.objects())
    for neighbour, name in there:
        put_on(state, neighbour, name)
    world.there.extend(there)
    return state


@pytest.mark.parametrize("rule", TWINS)
@MANY
@given(pod=pods(), world=worlds, there=neighbours)
def test_a_filter_refuses_what_its_twin_refuses_and_for_the_same_reasons(rule, pod, world, there):
    state = populated(world, there)
    assume(not oracle.objection(pod, world))
    row_filter = made(rule(), state, pod)
    for row, node in enumerate(world.nodes):
        expected = TWINS[rule](pod, node, world)
        if row_filter is None:
            assert expected == []
            continue
        assert bool(row_filter.passes(ALL_ROWS)[row]) == (not expected)
        assert [reason for reason, holds in row_filter.refusals(ALL_ROWS) if holds[row]] == expected
        if expected:
            assert bool(row_filter.unresolvable(ALL_ROWS)[row]) == (rule not in HOPEFUL)
    picked = np.array([2, 0])
    if row_filter is not None:
        assert row_filter.passes(picked).tolist() == row_filter.passes(ALL_ROWS)[picked].tolist()


@given(pod=pods(), world=worlds)
def test_what_keeps_a_pod_from_going_anywhere_is_said_alike(pod, world):
    state = state_with(*world.objects())
    scheduling_class = SchedulingClass(state.classes.enroll(pod)[0])
    checks = [rule.compile(scheduling_class, state.context) for rule in DEFAULT_PROFILE.preconditions]
    objections = [check.objection() for check in checks if check is not None]
    assert next(filter(None, objections), "") == oracle.objection(pod, world)


@given(pod=pods(), world=worlds)
def test_the_score_gives_the_points_of_its_twin(pod, world):
    state = state_with(*world.objects())
    assume(not oracle.objection(pod, world))
    score = made(VolumePreference(), state, pod)
    for row, node in enumerate(world.nodes):
        if score is not None and oracle.bindings(pod, node, world) is not None:
            points = score.points(np.ones(state.nodes.alive.size, dtype=np.bool_))
            assert points[row] == oracle.points(pod, node, world)


def promised(decisions):
    """What the claims of a pod are promised: names of volumes, None where one is to be made."""
    return {
        step.claim.name: step.volume if isinstance(step, KeepVolume) else None
        for decision in decisions
        if isinstance(decision, BindVolumes)
        for step in decision.steps
    }


def place_of(decisions):
    waiting = [decision.node for decision in decisions if isinstance(decision, BindVolumes)]
    return next(iter([*waiting, *placements(decisions).values()]), None)


@MANY
@given(world=worlds, asking=some_pods("p", 2, 4))
def test_pods_that_come_one_after_the_other_get_what_a_world_of_kept_promises_offers(world, asking):
    driver = Driver(*world.objects())
    for pod in asking:
        driver.see(pod)
        decisions = driver.decide()
        options = oracle.feasible(pod, world)
        name = place_of(decisions)
        assert name in options if options else name is None
        if name is not None:
            node = next(node for node in world.nodes if node.metadata.name == name)
            assert promised(decisions) == oracle.bindings(pod, node, world)
            world.place(pod, node)


def picture(state, records):
    """All that can be seen of storage in the state, as plain values."""
    storage = state.storage
    return {
        "keepers": {volume: dict(pods) for volume, pods in storage.book._keepers.items()},
        "nodes": {claim: dict(pods) for claim, pods in storage.book._nodes.items()},
        "users": {claim: dict(on) for claim, on in storage.usage._nodes_of.items()},
        "claims": {node: dict(claims) for node, claims in storage.usage._claims_on.items()},
        "disks": {disk: dict(on) for disk, on in storage.usage._holders.items()},
        "records": [(record.node, record.volumes) for record in records],
        "totals": [state.scores(state.scheduling_class(record)).totals().tolist() for record in records],
    }


@MANY
@given(
    world=worlds,
    there=neighbours,
    asking=some_pods("p", 2, 3),
    victims=st.lists(st.integers(0, 9), max_size=3),
)
def test_a_rolled_back_draft_leaves_storage_as_it_was(world, there, asking, victims):
    state = state_with(*world.objects())
    records = [put_on(state, neighbour, name) for neighbour, name in there]
    records += [record_in(state, pod) for pod in asking]
    place_all(Draft(state), state, records[-1:])
    before = picture(state, records)
    draft = Draft(state)
    place_all(draft, state, records)
    on_nodes = [record for record in records if record.node]
    removed = list({victim % len(on_nodes): None for victim in victims}) if on_nodes else []
    draft.remove([on_nodes[index] for index in removed])
    draft.put_back([on_nodes[index] for index in removed[:1]])
    draft.roll_back()
    assert picture(state, records) == before


def place_all(draft, state, records):
    """Place pods that are nowhere and fit somewhere."""
    for record in records:
        rows = np.flatnonzero(state.scores(state.scheduling_class(record)).totals() >= 0)
        if not record.node and rows.size:
            draft.place([record], rows[-1:])
