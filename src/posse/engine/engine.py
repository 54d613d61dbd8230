"""The engine: `absorb` events of the cluster, `decide` what to do about them, answer queries.

Equal events and equal times give equal decisions. The engine assumes that its decisions are carried out until
an event says otherwise: a refused binding comes back as an event, and the pod waits again.
"""

from collections.abc import Iterable, Iterator

from posse.engine.cycle.advice import Advising, Advisory, MissingNodes
from posse.engine.cycle.cycle import AttemptRecord
from posse.engine.cycle.decide import DecisionLoop
from posse.engine.cycle.settle import rank_members
from posse.engine.decisions import Decision
from posse.engine.events import (
    Advised,
    ClaimWritten,
    EngineEvent,
    KnownRuns,
    Observed,
    RunsRemembered,
    Solved,
    Vanished,
)
from posse.engine.exact.questions import Questions
from posse.engine.explain.explanation import (
    Explanation,
    PodExplanation,
    all_situations,
    explain,
    explain_pod,
    room_problem,
)
from posse.engine.explain.group_status import GroupStatus
from posse.engine.explain.overview import Overview, overview
from posse.engine.explain.queue_order import is_by_run_time
from posse.engine.explain.reserved_capacity import GuardedCapacity, guarded_capacity
from posse.engine.explain.statistics import Overcommitted, Statistics, overcommitted, statistics
from posse.engine.forecast.forecast_note import FORECAST
from posse.engine.forecast.problem_builder import ForecastProblemBuilder, Name, start_times
from posse.engine.intake.cluster_events import ClusterEvents
from posse.engine.intake.failed_writes import FailedWrites
from posse.engine.intake.knowledge import no_knowledge
from posse.engine.keys import GroupKey, PodRef
from posse.engine.options import EngineOptions
from posse.engine.placement_problem import RemedyProblem, Unadvised
from posse.engine.queue.run_times import UNKNOWN_RUN_TIME, ExpectedRunTime
from posse.engine.trials.group_trial import GroupTrials
from posse.engine.trials.pod_trial import PodTrials
from posse.model.pod import Pod


class Engine:
    def __init__(self, options: EngineOptions) -> None:
        self.gates = options.gates
        self._faults = options.faults
        self._knowledge = no_knowledge(
            options.profiles,
            options.backoff,
            options.gates,
            members_must_match=options.members_must_match,
            reserves=options.reserves,
        )
        self._cluster_events = ClusterEvents(self._knowledge, options.gates)
        self._failed_writes = FailedWrites(self._knowledge)
        self._questions = Questions(options.asks, options.effort)
        knowledge = self._knowledge
        self._pod_trials = PodTrials(
            knowledge.state,
            knowledge.groups,
            knowledge.budgets,
            knowledge.nominations,
            knowledge.awaited_protection,
        )
        self._group_trials = GroupTrials(
            knowledge.state,
            knowledge.groups,
            knowledge.budgets,
            knowledge.nominations,
            knowledge.ledger,
            knowledge.awaited_protection,
            options.gates,
            self._questions,
        )
        self._advisory = Advisory(knowledge, self._group_trials, Advising(options.asks))
        self._loop = DecisionLoop(
            knowledge, self._failed_writes, self._pod_trials, self._group_trials, self._advisory
        )

    def working_on(self) -> str:
        """What it is busy with, in words; the one question that another thread may ask at any time."""
        match self._knowledge.at_work:
            case None:
                return ""
            case PodRef() | GroupKey() as who:
                return f"it decides about {'pod' if isinstance(who, PodRef) else 'group'} {who}"
            case obj:
                name = "/".join(filter(None, (obj.metadata.namespace, obj.metadata.name)))
                return f"it reads {type(obj).__name__} {name}"

    def absorb(self, event: EngineEvent) -> None:
        match event:
            case Observed() | Vanished():
                self._cluster_events.absorb(event)
            case Solved():
                if self._questions.answered(event):
                    self._knowledge.backlog.wake(event.group)
            case Advised():
                self._advisory.answered(event)
            case ClaimWritten():
                self._cluster_events.claim_written(event)
            case RunsRemembered(runs):
                self._knowledge.run_times.remember(runs)
            case _:
                self._failed_writes.absorb(event)

    def decide(self, now: float) -> list[Decision]:
        """Work through the queue, up to a bound; call again while `has_work`."""
        self._knowledge.at_work = None
        self._cluster_events.read_outdated()
        return self._loop.decide(now)

    def schedules(self, pod: Pod) -> bool:
        """Whether the pod names a scheduler that this engine decides for."""
        return pod.spec.scheduler_name in self._knowledge.scheduler_names

    @property
    def has_work(self) -> bool:
        """Whether an entry can be tried now, or a change of the cluster may help one that did not fit."""
        if self._cluster_events.has_outdated:
            return True
        backlog = self._knowledge.backlog
        has_news = self._knowledge.state.has_improved_rows and backlog.has_unschedulable_classes
        return has_news or backlog.peek() is not None

    def next_wakeup(self) -> float | None:
        """Return when to call `decide` even if no event arrives."""
        return self._loop.next_wakeup()

    def known_runs(self) -> tuple[KnownRuns, ...]:
        """Return how long runs took, for the next scheduler to remember."""
        return self._knowledge.run_times.known()

    def tried(self) -> tuple[AttemptRecord, ...]:
        """Return the attempts of the last call of `decide`, also those with nothing new to report."""
        return self._loop.attempts()

    def statistics(self) -> Statistics:
        return statistics(self._knowledge)

    def overcommitted(self) -> list[Overcommitted]:
        return overcommitted(self._knowledge)

    def take_faults(self) -> list[str]:
        """Return faults of plugins and objects beyond a limit since the last call; each is returned once."""
        left_out, self._knowledge.left_out = self._knowledge.left_out, {}
        return [*self._faults.take(), *left_out]

    def take_over(self, now: float) -> None:
        """Take over what the running scheduler has written, where an engine only answers queries."""
        self._knowledge.run_protection.now = self._knowledge.run_times.now = now
        rank_members(self._knowledge)
        self._knowledge.published.take_over(now)

    def overview(self) -> Overview:
        return overview(self._knowledge)

    def missing_nodes(self) -> list[MissingNodes]:
        """Return which nodes would let waiting groups start, as far as that has been computed."""
        return self._advisory.missing_nodes()

    def situations(self) -> Iterator[GroupStatus]:
        """Return the status of every group, in order of first sight."""
        return all_situations(self._knowledge, self._group_trials)

    def forecast_builder(self, now: float) -> ForecastProblemBuilder:
        """Return what reads the problem of when waiting groups start, step by step."""
        return ForecastProblemBuilder(self._knowledge, now)

    @property
    def is_queue_by_run_time(self) -> bool:
        """Whether expected run times decide the order of the queue, of which a mere reader knows few."""
        return is_by_run_time(self._knowledge)

    def expected_run_time(self, key: GroupKey) -> ExpectedRunTime:
        """Return how long the group is expected to run from its start."""
        group = self._knowledge.groups.get(key)
        return self._knowledge.run_times.of_group(group) if group is not None else UNKNOWN_RUN_TIME

    def written_forecasts(self) -> list[GroupKey]:
        """Return the groups on whose objects a forecast is written."""
        described = ((group.key, group.obj) for group in self._knowledge.groups)
        return [key for key, obj in described if obj is not None and FORECAST in obj.metadata.annotations]

    def start_times(self, names: Iterable[Name]) -> dict[Name, float]:
        """Return when those of these groups and pods have started that are on nodes by now."""
        return start_times(self._knowledge, names)

    def guarded_capacity(self) -> list[GuardedCapacity]:
        return guarded_capacity(self._knowledge)

    def explain(self, key: GroupKey) -> Explanation | None:
        rank_members(self._knowledge)
        return explain(self._knowledge, self._group_trials, key)

    def room_problem(self, key: GroupKey) -> RemedyProblem | Unadvised | None:
        """Return the problem of making room for a group by stopping gangs; None if it does not wait."""
        rank_members(self._knowledge)
        return room_problem(self._knowledge, key)

    def explain_pod(self, uid: str) -> PodExplanation | None:
        rank_members(self._knowledge)
        return explain_pod(self._knowledge, self._pod_trials, uid)
