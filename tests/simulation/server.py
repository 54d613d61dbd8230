"""The world behind a connection that may fail: applies `posse.writes` to it, with bodies and preconditions."""

import msgspec

from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.writes.object_writes import ObjectDelete, conflict_resolved
from tests.simulation.faults import Answer
from tests.simulation.knowledge import group_name
from tests.simulation.laws import (
    bound_together_is_bound_whole,
    no_gang_is_bound_below_its_minimum,
    no_node_is_overfilled_knowingly,
)

UNAVAILABLE = 503


class Server:
    def __init__(self, world, random, *, binds_whole):
        self.world = world
        self.faults = None
        self.random = random
        self.binds_whole = binds_whole
        """Whether all bindings of a group hold or none does; otherwise each is a write of its own."""

    def bind(self, placements, group, beliefs):
        """Bind all of these in one write: all hold or none does. Return what went wrong, or None."""
        return self._attempt(lambda: self._bind(placements, group, beliefs))

    def write(self, write):
        """Apply the write as the carrier does; return what went wrong, or None."""
        error = self._attempt(lambda: self._apply(write))
        if error is not None and error.code == CONFLICT and write.reads_after_conflict:
            return self._after_conflict(write, error)
        return error

    def _attempt(self, action):
        """Have it done, unless the request or the answer gets lost."""
        answer = self.faults.answer(self.random)
        if answer is Answer.LOST_REQUEST:
            return _unavailable(answer)
        try:
            action()
        except ApiError as error:
            return error
        return _unavailable(answer) if answer is Answer.LOST_ANSWER else None

    def _apply(self, write):
        if isinstance(write, ObjectDelete):
            self.world.delete_pod(self.world.find(write.kind, write.name, write.uid))
        else:
            self.world.patch(write.kind, write.name, write.patch)

    def _after_conflict(self, write, conflict):
        found = []
        error = self._attempt(lambda: found.append(self.world.find(write.kind, write.name)))
        if error is not None and error.code != NOT_FOUND:
            return conflict
        return conflict_resolved(write, conflict, msgspec.to_builtins(found[0]) if found else None)

    def _bind(self, placements, group, beliefs):
        for placement in placements:
            self.world.bindable(placement.pod)
        for placement in placements:
            self.world.bind(placement.pod, placement.node)
            no_node_is_overfilled_knowingly(self.world, beliefs.nodes[placement.node])
        if self.binds_whole and group is not None:
            bound_together_is_bound_whole(self.world, placements)
            for name in dict.fromkeys(group_name(self.world.pods[one.pod.name]) for one in placements):
                no_gang_is_bound_below_its_minimum(self.world, beliefs.groups[name])


def _unavailable(answer):
    return ApiError(UNAVAILABLE, "ServiceUnavailable", answer.value)
