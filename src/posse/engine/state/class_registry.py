"""Classes of the known pods, and results computed once for all pods of a class."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from posse.engine.pods.bounded_pod import bounded_pod
from posse.engine.pods.census import Column, LabelClass
from posse.engine.pods.pod_class import ClassTable, PodClass
from posse.engine.pods.policy import PodReader
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.profile import CompiledRules, Profile
from posse.engine.state.node_capacity import NodeCapacity
from posse.engine.state.node_scores import NodeScores
from posse.engine.state.pod_record import PodRecord
from posse.model.limits import LimitError
from posse.model.pod import Pod


class ClassTables:
    """Node tables of one scheduling class."""

    def __init__(self, scheduling_class: SchedulingClass, context: RuleContext, profile: Profile) -> None:
        self._scheduling_class = scheduling_class
        self._context = context
        self.rules = CompiledRules(profile, scheduling_class, context)
        self.scores = NodeScores(scheduling_class, context, self.rules)

    @cached_property
    def capacity(self) -> NodeCapacity:
        return NodeCapacity(self._scheduling_class, self._context, self.rules, self.scores)


class ClassRegistry:
    def __init__(
        self,
        profiles: Mapping[str, Profile],
        context: RuleContext,
        attached: Callable[[], Iterable[tuple[LabelClass, int]]],
    ) -> None:
        self._profiles = profiles
        self._context = context
        self._census = context.census
        self._attached = attached
        """Labels and row of every pod on a node."""
        self.reader = PodReader({name: profile.policy for name, profile in profiles.items()})
        self._classes = ClassTable(context.nodes, self.reader, context.devices)
        self.brought: dict[PodClass, tuple[Column, ...]] = {}
        """Census columns in which pods of a class count, whatever their labels."""
        self._tables: dict[SchedulingClass, ClassTables] = {}
        self._scheduling_classes: dict[PodClass, list[SchedulingClass]] = {}
        """Scheduling classes that have tables."""
        self._latest: dict[PodClass, tuple[LabelClass, int, SchedulingClass]] = {}
        """The last answer for each class, with the labels and the version of the census that it is for."""

    def enroll(self, pod: Pod) -> tuple[PodClass, LabelClass]:
        """Return the classes of a pod that is being added. Undone by `dismiss`.

        LimitError: the pod is not to be tried. On a node, such a pod counts with what is within the limits.
        """
        try:
            pod_class = self._classes.join(pod)
        except LimitError:
            if not pod.spec.node_name:
                raise
            pod = bounded_pod(pod, self._context.nodes.resource_index)
            pod_class = self._classes.join(pod)
        if pod_class.member_count == 1:
            self._census.ask(pod_class.queries, self._attached)
            traits = (*pod_class.terms.traits, *pod_class.ports)
            self.brought[pod_class] = tuple(self._census.bring(trait) for trait in traits)
        return pod_class, self._census.join(pod)

    def dismiss(self, pod_class: PodClass, labels: LabelClass) -> None:
        self._census.leave(labels)
        self._classes.leave(pod_class)
        if pod_class.member_count:
            return
        for query in pod_class.queries:
            self._census.drop(query)
        for trait in (*pod_class.terms.traits, *pod_class.ports):
            self._census.take_away(trait)
        del self.brought[pod_class]
        self._latest.pop(pod_class, None)
        for scheduling_class in self._scheduling_classes.pop(pod_class, ()):
            del self._tables[scheduling_class]

    def relabel(self, record: PodRecord) -> bool:
        """Recount an attached pod with its new labels if no selector distinguishes them; returns whether."""
        labels = self._census.join(record.pod)
        if self._census.has_queries and self._census.matched(labels) != self._census.matched(record.labels):
            self._census.leave(labels)
            return False
        self._census.leave(record.labels)
        record.labels = labels
        return True

    def is_only_load(self, record: PodRecord) -> bool:
        """Whether other pods are affected by this one through its requests alone."""
        matched = self._census.has_queries and self._census.matched(record.labels)
        return not (self.brought[record.pod_class] or matched or record.pod_class.devices is not None)

    def scheduling_class(self, record: PodRecord) -> SchedulingClass:
        pod_class, labels, version = record.pod_class, record.labels, self._census.version
        latest = self._latest.get(pod_class)
        if latest is not None and latest[0] is labels and latest[1] == version:
            return latest[2]
        own = tuple(query for query in pod_class.queries if self._census.matches(query, labels))
        found = SchedulingClass(pod_class, self._census.matched_by(labels), own)
        self._latest[pod_class] = labels, version, found
        return found

    def profile(self, pod_class: PodClass) -> Profile:
        """Return the profile of pods that Posse schedules."""
        return self._profiles[pod_class.spec.scheduler_name]

    def tables(self, scheduling_class: SchedulingClass) -> ClassTables:
        known = self._tables.get(scheduling_class)
        if known is None:
            context, profile = self._context, self.profile(scheduling_class.pod_class)
            known = self._tables[scheduling_class] = ClassTables(scheduling_class, context, profile)
            self._scheduling_classes.setdefault(scheduling_class.pod_class, []).append(scheduling_class)
        return known
