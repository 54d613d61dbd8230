"""One run of the simulation: a pure function of its seed. First everything goes wrong, then everything settles.

Even seeds have a server that binds a group whole, as the embedded one does; odd seeds one that binds pods one by one.
"""

import random
from collections import Counter

from posse.engine.decisions import (
    Advise,
    Bind,
    Evict,
    MarkDisrupted,
    NotePriorities,
    PublishReservation,
    ReportGroup,
    ReportPod,
    Solve,
    WarnGroup,
)
from posse.engine.engine import Engine
from posse.engine.keys import GroupRef
from posse.engine.options import EngineOptions
from posse.engine.queue.starvation_guard import PATIENCE_SECONDS, RESERVATION_SECONDS, REST_SECONDS
from posse.engine.state.invariants import ensure
from tests.simulation.advice import every_advice_lets_it_start
from tests.simulation.faults import NO_FAULTS, draw_faults
from tests.simulation.forest import Forest
from tests.simulation.laws import nothing_is_lost, what_has_started_is_told, whoever_fits_has_started
from tests.simulation.scheduler_process import SchedulerProcess
from tests.simulation.server import Server
from tests.simulation.truth import all_that_is_told_is_true
from tests.simulation.workload import Kubelets, Workload
from tests.simulation.world import KINDS, KINDS_WITH_TREES, World

_TAIL = 60
_PROGRESS_SECONDS = 120.0
"""Every group that fits has started so long after the last fault: longer than any backoff of groups this small."""
_FAIRNESS_SECONDS = PATIENCE_SECONDS + 2 * (RESERVATION_SECONDS + REST_SECONDS)
"""After so long without anybody placed, no room is kept for anybody any more."""
_RETRY_SECONDS = 350.0
"""In so long everything parked is tried once more; no pod starts by that alone, but some may get a newer reason."""
_QUIET_SECONDS = 700.0
"""Then nothing at all is decided for so long."""
_MOST_SETTLING_ROUNDS = 300
_STEPS_TO_REST = 10
_RENEWAL_SECONDS = 10.0
"""Whatever is written is true again so long after the last event."""


class SimulationFailed(AssertionError):  # noqa: N818 - a finding, not an error of the simulation
    """Carries the seed and the end of the story."""


def told(decision):
    """Return the decision in a few words."""
    if isinstance(decision, Bind):
        places = ", ".join(f"{placement.pod.name} to {placement.node}" for placement in decision.placements)
        return f"bind {places}" + (f" for {decision.group.name}" if decision.group else "")
    if isinstance(decision, Evict):
        preemptor = decision.preemptor
        name = preemptor.key.name if isinstance(preemptor, GroupRef) else preemptor.name
        return f"evict {decision.pod.name} from {decision.node} for {name}"
    if isinstance(decision, NotePriorities):
        return f"note priorities of {decision.group.name}: {decision.message or 'all alike'}"
    if isinstance(decision, MarkDisrupted):
        return f"mark {decision.group.name} as {'evicted' if decision.message else 'running again'}"
    if isinstance(decision, PublishReservation):
        return f"note on {decision.group.name}: {decision.note or 'nothing reserved'}"
    if isinstance(decision, ReportPod):
        return f"report {decision.pod.name}: {decision.reason}"
    if isinstance(decision, ReportGroup | WarnGroup):
        return f"report {decision.group.name}: {decision.reason}"
    if isinstance(decision, Solve | Advise):
        return f"ask the solver about {decision.group.name}"
    return str(decision)


def usual_engine():
    return Engine(EngineOptions())


def advised_engine():
    """With an exact search, and advice for what waits."""
    return Engine(EngineOptions(asks=True))


class Run:
    def __init__(
        self, seed, make_engine=usual_engine, tell=None, *, has_trees=False, has_faults=True, rests=False
    ):
        self.seed = seed
        self.counts = Counter()
        """What happened how often: a run in which nothing happens shows nothing."""
        self._random = random.Random(seed)
        self._make_engine = make_engine
        self._tell = tell
        self._story = []
        self._has_trees = has_trees
        self._is_calm = not has_faults
        self._rests = rests
        """Whether all that is told is compared every few steps, as if they were the last."""
        self._world = World(KINDS_WITH_TREES if has_trees else KINDS)
        self._server = Server(self._world, self._random, binds_whole=seed % 2 == 0)
        self._workload = (Forest if has_trees else Workload)(self._world, self._random)
        self._kubelets = Kubelets(self._world, self._random)
        self._faults = NO_FAULTS
        if has_faults:
            self._faults = draw_faults(self._random, binds_whole=self._server.binds_whole)
        self._steps = {
            self._advance_workload: 8.0,
            self._advance_kubelets: 3.0,
            self._deliver: self._faults.deliveries,
            self._repeat: self._faults.repeats,
            self._break_watch: self._faults.breaks,
            self._decide: 8.0,
            self._carry: self._faults.carrying,
            self._crash: self._faults.crashes,
        }

    def execute(self):
        """Run to the end; whatever goes wrong is told with the seed and the last steps before it."""
        try:
            self._disturb()
            self._settle()
        except Exception as error:
            raise SimulationFailed(self._obituary(error)) from error
        return self.counts

    def _obituary(self, error):
        tail = "\n".join(self._story[-_TAIL:])
        calm = f" --{'rests' if self._rests else 'calm'}" if self._is_calm else ""
        kind = f"{' --trees' if self._has_trees else ''}{calm}"
        replay = f"python -m tests.simulation{kind} --seed {self.seed} --trace"
        return f"seed {self.seed}: {type(error).__name__}: {error}\n{tail}\nreplay with: {replay}"

    def _note(self, what):
        line = f"{self._world.now:9.2f}  {what}"
        self._story.append(line)
        if self._tell is not None:
            self._tell(line)

    # --- everything goes wrong ---------------------------------------------------------------------------

    def _disturb(self):
        self._note(f"{'groups' if self._server.binds_whole else 'pods'} are bound at once; {self._faults}")
        self._server.faults = self._faults
        self._workload.begin()
        self._start()
        steps, weights = list(self._steps), list(self._steps.values())
        actions = self._random.choices(steps, weights, k=self._random.randint(60, 160))
        for number, action in enumerate(actions, 1):
            self._world.now += self._random.choice((0.0, 0.0, 0.1, 1.0, 5.0))
            action()
            if self._rests and number % _STEPS_TO_REST == 0:
                self._what_is_told_is_true()

    def _start(self):
        self._process = SchedulerProcess(self._world, self._make_engine(), self._server)

    def _advance_workload(self):
        if done := self._workload.step():
            self._note(done)

    def _advance_kubelets(self):
        if done := self._kubelets.step():
            self._note(done)

    def _deliver(self):
        if lagging := self._process.lagging():
            watch = self._random.choice(lagging)
            for _ in range(min(watch.lag, self._random.choice((1, 2, 5, 50)))):
                self._note_change("  sees", watch.advance())

    def _repeat(self):
        if not self._process.is_starting:
            change = self._process.watch(self._random.choice(self._world.kinds)).repeat()
            if change is not None:
                self._note_change("  sees again", change)

    def _note_change(self, how, change):
        metadata = change.obj.metadata
        what = "gone" if change.is_gone else f"version {metadata.resource_version}"
        self._note(f"{how} {type(change.obj).__name__} {metadata.name} {what}")

    def _break_watch(self):
        if not self._process.is_starting:
            kind = self._random.choice(self._world.kinds)
            self.counts["breaks"] += 1
            self._note(f"  lists {kind.__name__} anew")
            self._process.watch(kind).list()

    def _decide(self):
        if self._process.is_starting:
            self._note(f"  lists {self._process.list_next().__name__}")
        elif self._process.may_decide:
            for decision in self._process.decide():
                self._count(decision)
                self._note(f"  decides to {told(decision)}")

    def _count(self, decision):
        if isinstance(decision, Solve | Advise):
            return
        self.counts[type(decision).__name__] += 1
        if isinstance(decision, Evict) and isinstance(decision.preemptor, GroupRef):
            self.counts["evicted for groups"] += 1
        if isinstance(decision, Bind) and decision.group is not None:
            self.counts["trees started" if decision.group.is_composite else "groups started"] += 1

    def _carry(self):
        if self._process.is_carrying:
            self._note(f"  {self._process.carry_on()}")

    def _crash(self):
        self.counts["crashes"] += 1
        self._note("the scheduler crashes and starts anew")
        self._start()

    # --- everything settles ------------------------------------------------------------------------------

    def _settle(self):
        self._note("faults are over")
        self._server.faults = NO_FAULTS
        if self._random.random() < 0.7:
            self._workload.finish()
        self._run_until(self._world.now + _PROGRESS_SECONDS)
        self._all_is_well()
        self._what_is_told_is_true()
        self._run_until(self._world.now + _FAIRNESS_SECONDS)
        self._all_is_well()
        self._what_is_told_is_true()
        started = self.counts["Bind"]
        self._run_until(self._world.now + _RETRY_SECONDS)
        ensure(self.counts["Bind"] == started, "nobody has to wait to be tried once more")
        decided, tried = self.counts.total(), self._process.attempts
        self._run_until(self._world.now + _QUIET_SECONDS)
        self._all_is_well()
        ensure(self.counts.total() == decided, "decisions stop when nothing happens")
        most = 4 * (len(self._world.pods) + 1)
        tries = self._process.attempts - tried
        ensure(tries <= most, "attempts are few when nothing happens", tries=tries, most=most)

    def _run_until(self, end):
        for _ in range(_MOST_SETTLING_ROUNDS):
            if not self._round():
                wakeup = self._process.next_wakeup()
                if wakeup is None or wakeup > end:
                    self._world.now = end
                    return
                self._world.now = max(self._world.now, wakeup)
        ensure(holds=False, law="a cluster without faults settles", rounds=_MOST_SETTLING_ROUNDS)

    def _round(self):
        """Let everything happen that is due; return whether more is."""
        while self._process.is_starting:
            self._decide()
        self._kubelets.finish()
        for watch in self._process.lagging():
            while watch.lag:
                self._note_change("  sees", watch.advance())
        self._decide()
        while self._process.is_carrying:
            self._carry()
        return self._process.engine.has_work or self._process.is_stirred or bool(self._process.lagging())

    def _what_is_told_is_true(self):
        acted = self.counts["Bind"] + self.counts["Evict"] + self.counts["PublishReservation"]
        self._run_until(self._world.now + _RENEWAL_SECONDS)
        if acted == self.counts["Bind"] + self.counts["Evict"] + self.counts["PublishReservation"]:
            parts = self._world, self._make_engine, self._process.engine
            is_still = all_that_is_told_is_true(*parts)
            self.counts["truths"] += is_still
            if is_still and self._make_engine is advised_engine:
                self.counts["followed"] += every_advice_lets_it_start(*parts)

    def _all_is_well(self):
        nothing_is_lost(self._process.knowledge, self._process.engine)
        what_has_started_is_told(self._world, self._process.engine)
        if self._process.engine._knowledge.starvation_guard.reservation is None:
            whoever_fits_has_started(self._process.knowledge)
