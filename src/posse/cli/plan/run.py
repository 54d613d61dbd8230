"""Runs `posse plan`: changes a copy of the cluster, submits manifests to it, and reports the decisions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import typer

from posse.cli.configuration_file import rules_in_force
from posse.cli.manifests import Manifest
from posse.cli.output import Output, print_data
from posse.cli.plan.expansion import expanded
from posse.cli.plan.groups_named import groups_named
from posse.cli.plan.overrides import Overrides, adjusted
from posse.cli.plan.quotas import RefusedObject, refusal_lines, within_quotas
from posse.cli.plan.report import Planned, PlanOutcome, Report, details_of, overall, planned, table_of
from posse.cli.plan.trial import settle, submit
from posse.cli.plan.what_ifs import ClusterChanges, changed
from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import Survey, survey_cluster
from posse.cli.reading.sources import ClusterSource, DerivedSource
from posse.cli.session import Rules
from posse.engine.events import ClusterObject, Observed
from posse.engine.options import EngineOptions
from posse.kinds.machinery.kind import Kind
from posse.model.decoding import ShapeError, decode
from posse.model.pod import Pod
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS

Json = dict[str, Any]
_STRUCTS = dict(FOLLOWED_KINDS)
EXIT_CODES = {PlanOutcome.STARTS: 0, PlanOutcome.RUNS: 0, PlanOutcome.WAITS: 3, PlanOutcome.PREEMPTS: 4}


@dataclass(frozen=True, slots=True)
class AdjustedSource(DerivedSource):
    """A source in which a group and its pods are changed."""

    overrides: Overrides
    groups: frozenset[str]
    """Uids of the objects that describe it."""
    pods: frozenset[str]

    def objects(self, kind: Kind, namespace: str | None, tell: Callable[[str], None]) -> Iterator[Json]:
        for obj in self.source.objects(kind, namespace, tell):
            is_changed = obj["metadata"].get("uid") in self.groups | self.pods
            yield adjusted(kind, obj, self.overrides) if is_changed else obj


def with_overrides(
    source: ClusterSource, survey: Survey, named: str, namespace: str, overrides: Overrides
) -> AdjustedSource:
    """Misuse or Problem: it is not a group, or is not there."""
    keys = groups_named(source, survey, "--of", named, namespace)
    objects = [found for key in keys if (found := survey.object_of(key)) is not None]
    return AdjustedSource(
        source,
        overrides,
        frozenset(obj["metadata"].get("uid", "") for obj in objects),
        frozenset(pod.metadata.uid for key in keys for pod in survey.members.get(key, {}).values()),
    )


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    manifests: Sequence[Manifest]
    namespace: str
    changes: ClusterChanges = field(default_factory=ClusterChanges)
    overrides: Overrides = field(default_factory=Overrides)
    of: str = ""
    """An existing group, as in podgroup/x, that the overrides change if nothing is submitted."""


def show_plan(source: ClusterSource, question: PlanQuestion, rules: Rules, output: Output) -> None:
    """Exit: the code says what happens."""
    options = replace(rules_in_force(rules, source), asks=True)
    report = report_of(source, question, options)
    if output.is_data:
        print_data(msgspec.to_builtins(report), output)
    else:
        for line in report_lines(report, source.now(), has_question=bool(question.manifests)):
            typer.echo(line)
    raise typer.Exit(EXIT_CODES[report.outcome])


def report_of(source: ClusterSource, question: PlanQuestion, options: EngineOptions) -> Report:
    """Problem: what is submitted exists, or is refused."""
    before = survey_cluster(source, options)
    survey, affected, where = before, list[str](), source
    decided, own = None, frozenset[str]()
    if question.of:
        where = source = with_overrides(source, before, question.of, question.namespace, question.overrides)
        own = source.pods
    if question.changes or own:
        where = thought = changed(source, before, question.changes, question.namespace)
        survey = survey_cluster(thought, options)
        decided = submit(survey.engine, (), _by_uid(survey), source.now())
        gone = thought.removed | thought.drained
        moved = {uid for uid, pod in _by_uid(before).items() if pod.spec.node_name in gone}
        affected = [uid for uid in _by_uid(survey) if uid in moved | own or uid in decided.nodes]
    else:
        settle(survey.engine, _by_uid(survey), source.now())
    touched = planned(survey, decided, affected, source.now()) if decided is not None else []
    if not question.manifests:
        return Report(overall(touched), (), tuple(touched))
    submitted, refused = _submitted(where, survey, question, options)
    outcome = PlanOutcome.WAITS if refused else overall(submitted)
    return Report(outcome, tuple(submitted), tuple(touched), tuple(refused))


def _submitted(
    source: ClusterSource, survey: Survey, question: PlanQuestion, options: EngineOptions
) -> tuple[list[Planned], list[RefusedObject]]:
    _check_new(source, question)
    new = expanded(question.manifests, source, question.namespace, options.gates)
    adjusted_objects = [(kind, adjusted(kind, obj, question.overrides)) for kind, obj in new]
    objects, refused = within_quotas(adjusted_objects, source)
    observed = []
    for kind, obj in objects:
        struct = _decoded(kind, obj)
        if isinstance(struct, Pod):
            survey.note_pod(struct)
        else:
            survey.note(kind, obj)
        observed.append(Observed(struct))
    decided = submit(survey.engine, observed, _by_uid(survey), source.now())
    own = {one.obj.metadata.uid for one in observed if isinstance(one.obj, Pod)}
    if not own and not refused:
        raise Problem("no pods would be created from these objects, so there is nothing to place")
    return planned(survey, decided, own, source.now()), refused


def _decoded(kind: Kind, obj: dict[str, Any]) -> ClusterObject:
    try:
        return decode(_STRUCTS[kind], obj)
    except ShapeError as error:
        raise Problem(f"{kind.singular}/{obj['metadata'].get('name', '')}: {error}") from error


def _check_new(source: ClusterSource, question: PlanQuestion) -> None:
    for manifest in question.manifests:
        place = (manifest.namespace or question.namespace) if manifest.kind.namespaced else None
        there = source.objects(manifest.kind, place, lambda _: None)
        if manifest.name and any(obj["metadata"]["name"] == manifest.name for obj in there):
            what = f"{manifest.kind.singular}/{manifest.name}"
            hint = f"plan it under another name, or ask with --of {what}"
            raise Problem(f"{manifest.origin}: {what} exists already; {hint}")


def _by_uid(survey: Survey) -> dict[str, Pod]:
    return {pod.metadata.uid: pod for pod in survey.pods.values()}


def report_lines(report: Report, now: float, *, has_question: bool) -> list[str]:
    lines: list[str] = []
    if report.affected:
        lines += ["What the changes of the cluster do:", *table_of(report.affected)]
        lines += [*details_of(report.affected, now)]
    if has_question:
        lines += [""] if lines else []
        lines += table_of(report.submitted) if report.submitted else []
        lines += [*details_of(report.submitted, now)]
    if report.refused:
        lines += ["", *refusal_lines(report.refused)]
    return lines or ["The changes move nothing, and let nothing start."]
