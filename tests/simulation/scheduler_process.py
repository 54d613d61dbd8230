"""One life of a scheduler: the engine between its watches and its writes, from the first list to a crash.

It does what `posse.runtime` does, one small step at a time, so that anything can happen between any two steps.
Nothing survives it: the next process starts from lists.
"""

from collections import deque

from posse.engine.decisions import Advise, Solve
from posse.engine.events import ClaimWritten
from posse.writes.round_writes import writes_of
from tests.simulation.beliefs import Beliefs
from tests.simulation.knowledge import Knowledge
from tests.simulation.laws import decisions_are_sound, nothing_is_lost
from tests.simulation.watching import Watch
from tests.support.followed_advice import answered

_MAX_ROUNDS_QUEUED = 8
_REPORT_AGAIN_SECONDS = 1.0


class SchedulerProcess:
    def __init__(self, world, engine, server):
        self.engine = engine
        self.knowledge = Knowledge()
        self.attempts = 0
        self.is_stirred = True
        """Whether anything was absorbed since it last decided."""
        self._world = world
        self._server = server
        self._unlisted = deque(world.kinds)
        self._watches = {kind: Watch(world, kind, self.absorb) for kind in world.kinds}
        self._rounds = deque()
        self._writes = None
        """The round that is being carried out, as a generator that makes one write at each step."""
        self._lost = []
        """Reports that failed, with the time when the engine learns of it."""

    def absorb(self, event):
        self.is_stirred = True
        self.engine.absorb(event)
        self.knowledge.absorb(event)

    @property
    def is_starting(self):
        return bool(self._unlisted)

    @property
    def may_decide(self):
        return not self.is_starting and len(self._rounds) < _MAX_ROUNDS_QUEUED

    @property
    def is_carrying(self):
        return self._writes is not None or bool(self._rounds)

    def list_next(self):
        """Take one more step of starting up."""
        kind = self._unlisted.popleft()
        self._watches[kind].list()
        return kind

    def lagging(self):
        """Return the watches that have something to tell."""
        return [watch for watch in self._watches.values() if watch.lag] if not self.is_starting else []

    def watch(self, kind):
        return self._watches[kind]

    def next_wakeup(self):
        """Return when there is something to do next, if nothing happens before; None if never."""
        wakeups = [self.engine.next_wakeup(), *(due for due, _ in self._lost)]
        return min((wakeup for wakeup in wakeups if wakeup is not None), default=None)

    def decide(self):
        """Decide once, and have the decisions judged; return them."""
        due = [event for at, event in self._lost if at <= self._world.now]
        self._lost = [(at, event) for at, event in self._lost if at > self._world.now]
        for event in due:
            self.absorb(event)
        self.is_stirred = False
        self.knowledge.kept = self._kept_room()
        decisions = self.engine.decide(self._world.now)
        self.knowledge.kept += self._kept_room()
        self.attempts += len(self.engine.tried())
        for question in [one for one in decisions if isinstance(one, Solve | Advise)]:
            self.is_stirred = True
            self.engine.absorb(answered(question))
        decisions_are_sound(self.knowledge, decisions)
        nothing_is_lost(self.knowledge, self.engine)
        if decisions:
            self._rounds.append((writes_of(decisions), Beliefs(self.knowledge, decisions)))
        return decisions

    def _kept_room(self):
        kept, names = (
            self.engine._knowledge.starvation_guard.reservation,
            self.engine._knowledge.state.nodes.names,
        )
        return [(kept.key.name, kept.priority, [names[row] for row in kept.rows])] if kept is not None else []

    def carry_on(self):
        """Make the next write that is due; return what it was."""
        if self._writes is None:
            self._writes = self._carry_out(*self._rounds.popleft())
        written = next(self._writes, None)
        if written is None:
            self._writes = None
        return written or "the round is over"

    def _carry_out(self, writes, beliefs):
        """As `posse.runtime.scheduling.carrier` does; writes without an order are made in any order."""
        refusals, failures, lost = [], [], []
        at_once = [self._bind(write, beliefs, refusals) for write in writes.bindings if not write.claims]
        later = [self._claim_and_bind(*part, beliefs, refusals) for part in _sharing_claims(writes)]
        yield from self._overlapping([*at_once, *later])
        for stage in writes.stages:
            yield from self._overlapping(self._write(part, failures) for part in stage)
        setbacks = [*refusals, *failures, *writes.withheld(refusals)]
        for setback in setbacks:
            self.absorb(setback)
        self.knowledge.answered.update(writes.bound_pods())
        reports = writes.reports_after(setbacks)
        yield from self._overlapping(self._write(report, lost) for report in reports)
        self._lost += [(self._world.now + _REPORT_AGAIN_SECONDS, event) for event in lost]

    def _overlapping(self, parts):
        """Advance one of these at each step."""
        running = list(parts)
        while running:
            part = self._server.random.choice(running)
            written = next(part, None)
            if written is None:
                running.remove(part)
            else:
                yield written

    def _claim_and_bind(self, claims, bindings, beliefs, refusals):
        unclaimed = {}
        yield from self._overlapping(self._claim(part, unclaimed) for part in claims)
        ready = []
        for write in bindings:
            answers = write.answers_without(unclaimed)
            if answers is None:
                ready.append(write)
            else:
                refusals += write.failed(answers)
        yield from self._overlapping(self._bind(write, beliefs, refusals) for write in ready)

    def _bind(self, write, beliefs, refusals):
        bind = write.decision
        parts = [bind.placements] if self._server.binds_whole else [(one,) for one in bind.placements]
        answers = []
        for part in parts:
            error = self._server.bind(part, bind.group, beliefs)
            answers += [error] * len(part)
            names = ", ".join(f"{placement.pod.name} to {placement.node}" for placement in part)
            yield f"bind {names}{_outcome(error)}"
        refusals += write.failed(answers)

    def _claim(self, part, failures):
        for write in part.writes(self._world.timestamp()):
            error = self._server.write(write)
            yield f"{write}{_outcome(error)}"
            if error is not None:
                failures[part.decision.claim] = error
                break
        found = self._server.find_claim(part.decision.claim)
        while found is False:
            yield f"asks for claim {part.decision.claim} in vain"
            found = self._server.find_claim(part.decision.claim)
        yield f"has the answer about claim {part.decision.claim}"
        self.absorb(ClaimWritten(part.decision.claim, found))

    def _write(self, part, failures):
        """Make the writes that belong together, up to the first that fails."""
        for write in part.writes(self._world.timestamp()):
            error = self._server.write(write)
            if error is not None and (failure := part.failed(error)) is not None:
                failures.append(failure)
            yield f"{write}{_outcome(error)}"
            if error is not None:
                return


def _sharing_claims(writes):
    """Claims and bindings of a round, in parts that have no claim in common."""
    by_key = {part.decision.claim: part for part in writes.claims}
    parts = []
    for write in (one for one in writes.bindings if one.claims):
        keys = dict.fromkeys(write.claims)
        touching = [part for part in parts if not keys.keys().isdisjoint(part[0])]
        parts = [part for part in parts if part not in touching]
        for known, _ in touching:
            keys |= known
        parts.append((keys, [*(one for _, bindings in touching for one in bindings), write]))
    return [([by_key[key] for key in keys], bindings) for keys, bindings in parts]


def _outcome(error):
    return f" ({error})" if error else ""
