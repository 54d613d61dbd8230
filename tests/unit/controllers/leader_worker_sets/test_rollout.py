"""How far an update goes next, case by case; that it arrives within its bounds is a property test."""

import pytest

from posse.controllers.leader_worker_sets.rollout import (
    GroupState,
    LeaderSetState,
    Rollout,
    RolloutLimits,
    next_rollout,
)

OLD = GroupState(is_ready=True, is_updated=False)
AWAY = GroupState(is_ready=False, is_updated=False)
STARTING = GroupState(is_ready=False, is_updated=True)
DONE = GroupState(is_ready=True, is_updated=True)


def limits(replicas=4, partition=0, max_unavailable=1, max_surge=0):
    return RolloutLimits(replicas, partition, max_unavailable, max_surge)


def leaders(replicas=4, partition=0, asked=4):
    return LeaderSetState(replicas, partition, asked)


@pytest.mark.parametrize(
    ("wanted", "state", "groups", "is_changed", "result"),
    [
        # Nothing is there yet.
        (limits(), None, [], False, (0, 4)),
        # The templates have just changed: everything is held back, and surplus replicas are made.
        (limits(), leaders(), [OLD] * 4, True, (4, 4)),
        (limits(max_surge=2), leaders(), [OLD] * 4, True, (4, 6)),
        (limits(replicas=6, max_surge=2), leaders(), [OLD] * 4, True, (4, 6)),
        # At rest.
        (limits(), leaders(), [DONE] * 4, False, (0, 4)),
        # It grows while an update goes on.
        (limits(replicas=6), leaders(partition=3), [OLD] * 4, False, (3, 6)),
        # It shrinks while an update goes on.
        (limits(replicas=2), leaders(partition=3, asked=4), [OLD] * 4, False, (2, 2)),
        # The highest go first, as many as may be away.
        (limits(), leaders(partition=4), [OLD] * 4, False, (3, 4)),
        (limits(max_unavailable=2), leaders(partition=4), [OLD] * 4, False, (2, 4)),
        (limits(), leaders(partition=3), [OLD] * 3 + [DONE], False, (2, 4)),
        (limits(), leaders(partition=3), [OLD] * 3 + [STARTING], False, (3, 4)),
        # One that is away already counts as one of those that may be, but never holds up everything.
        (limits(max_unavailable=2), leaders(partition=4), [AWAY, OLD, OLD, OLD], False, (3, 4)),
        (limits(max_unavailable=1), leaders(partition=4), [AWAY, OLD, OLD, OLD], False, (3, 4)),
        # A surplus takes over for those that are away.
        (limits(max_surge=1), leaders(replicas=5, partition=4), [OLD] * 4 + [STARTING], False, (3, 5)),
        (limits(max_surge=1), leaders(replicas=5, partition=4), [OLD] * 4 + [DONE], False, (2, 5)),
        (limits(max_surge=1), leaders(replicas=5, partition=0), [STARTING] + [DONE] * 4, False, (0, 4)),
        # What must not change does not.
        (limits(partition=3), leaders(partition=4), [OLD] * 4, False, (3, 4)),
        (limits(partition=3), leaders(partition=3), [OLD] * 3 + [DONE], False, (3, 4)),
    ],
)
def test_the_next_step(wanted, state, groups, is_changed, result):
    assert next_rollout(wanted, state, groups, is_changed=is_changed) == Rollout(*result)
