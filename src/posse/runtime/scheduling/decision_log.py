"""Logs every decision as one line of JSON on the logger `posse.decisions`.

A binding is logged when the API has accepted it, not when it is decided. Lines are built only if that logger
is enabled.
"""

import logging
from collections.abc import Callable, Mapping
from enum import StrEnum

import msgspec

from posse.engine.causes import Refusal
from posse.engine.cycle.cycle import AttemptRecord
from posse.engine.decisions import SCHEDULER_ERROR, Bind, Placement, ReportGroup, ReportPod
from posse.engine.keys import NATIVE_FORM, WORKLOAD_FORM, GroupKey, PodRef
from posse.engine.reporting.messages import verdict_text
from posse.model.timestamps import format_micro_timestamp
from posse.runtime.process.logs import DECISIONS
from posse.runtime.scheduling.observers import Round

log = logging.getLogger(DECISIONS)


class LineOutcome(StrEnum):
    BOUND = "bound"
    WOULD_BIND = "would_bind"
    """A placement was found in a dry run or in shadow mode, where nothing is bound."""
    REFUSED = "refused"
    """No placement was found; `message` and `refusals` say why."""
    FAILED = "failed"
    """It cannot be tried, or the API refused the decision."""


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Either `pod` or `group` is set, as namespace/name."""

    time: str
    outcome: LineOutcome
    pod: str = ""
    uid: str = ""
    group: str = ""
    form: str = ""
    """Of a group: the API that describes it, unless that is Kubernetes' own."""
    composite: bool = False
    """Whether the group is a CompositePodGroup."""
    scheduler: str = ""
    attempt: int = 0
    queue_seconds: float | None = None
    """Since it could first be tried."""
    node: str = ""
    placements: dict[str, str] = {}
    """Of a group: the node of each pod that was bound."""
    message: str = ""
    refusals: tuple[Refusal, ...] = ()
    nominated_node: str = ""
    """Where evictions free capacity for it."""
    victims: tuple[str, ...] = ()


class DecisionLog:
    def __init__(self, clock: Callable[[], float], *, binds: bool = True) -> None:
        self._clock = clock
        self._binds = binds

    def decided(self, done: Round) -> None:
        if not log.isEnabledFor(logging.INFO):
            return
        now = self._clock()
        for tried in done.tried:
            if not tried.verdict.succeeded:
                _write(_refused(tried, now))
        for decision in done.decisions:
            # All other reports repeat what was tried, and leave out what has not changed.
            if isinstance(decision, ReportPod | ReportGroup) and decision.reason == SCHEDULER_ERROR:
                _write(_failed(decision, now))

    def bound(self, done: Round, refusals: Mapping[str, str]) -> None:
        if not log.isEnabledFor(logging.INFO):
            return
        now = self._clock()
        refusals = refusals if self._binds else {}
        for bind in done.binds():
            if bind.group is None:
                for placement in bind.placements:
                    self._write_bound(_pod_bound(placement, refusals, now))
            else:
                self._write_bound(_group_bound(bind, bind.group, refusals, now))

    def _write_bound(self, line: Line) -> None:
        _write(line if self._binds else msgspec.structs.replace(line, outcome=LineOutcome.WOULD_BIND))

    def volumes_refused(self, pod: PodRef, node: str, reason: str) -> None:
        if log.isEnabledFor(logging.INFO):
            _write(
                Line(
                    time=format_micro_timestamp(self._clock()),
                    outcome=LineOutcome.FAILED,
                    pod=_name(pod),
                    uid=pod.uid,
                    scheduler=pod.scheduler_name,
                    node=node,
                    message=f"binding volumes: {reason}",
                )
            )


def _refused(tried: AttemptRecord, now: float) -> Line:
    pod = tried.who if isinstance(tried.who, PodRef) else None
    return Line(
        time=format_micro_timestamp(now),
        outcome=LineOutcome.REFUSED,
        pod=_name(pod) if pod else "",
        uid=pod.uid if pod else "",
        group=_group_name(tried.who),
        form=_form(tried.who),
        composite=isinstance(tried.who, GroupKey) and tried.who.is_composite,
        scheduler=tried.scheduler_name,
        attempt=tried.number,
        queue_seconds=_seconds(now - tried.queued_at),
        message=verdict_text(tried.verdict),
        refusals=tried.refusals,
        nominated_node=tried.nominated_node,
        victims=tuple(_name(victim) for victim in tried.victims),
    )


def _pod_bound(placement: Placement, refusals: Mapping[str, str], now: float) -> Line:
    refusal = refusals.get(placement.pod.uid)
    return Line(
        time=format_micro_timestamp(now),
        outcome=LineOutcome.BOUND if refusal is None else LineOutcome.FAILED,
        pod=_name(placement.pod),
        uid=placement.pod.uid,
        scheduler=placement.pod.scheduler_name,
        attempt=placement.attempts,
        queue_seconds=_seconds(now - placement.queued_at),
        node=placement.node,
        message="" if refusal is None else f"binding rejected: {refusal}",
    )


def _group_bound(bind: Bind, group: GroupKey, refusals: Mapping[str, str], now: float) -> Line:
    """A group with a refused binding has failed, even if other pods of it are bound."""
    refused = [placement for placement in bind.placements if placement.pod.uid in refusals]
    return Line(
        time=format_micro_timestamp(now),
        outcome=LineOutcome.FAILED if refused else LineOutcome.BOUND,
        group=_group_name(group),
        form=_form(group),
        composite=group.is_composite,
        scheduler=bind.placements[0].pod.scheduler_name,
        attempt=max(placement.attempts for placement in bind.placements),
        queue_seconds=_seconds(now - min(placement.queued_at for placement in bind.placements)),
        placements={
            placement.pod.name: placement.node
            for placement in bind.placements
            if placement.pod.uid not in refusals
        },
        message="; ".join(f"binding {p.pod.name} rejected: {refusals[p.pod.uid]}" for p in refused),
    )


def _failed(report: ReportPod | ReportGroup, now: float) -> Line:
    pod = report.pod if isinstance(report, ReportPod) else None
    return Line(
        time=format_micro_timestamp(now),
        outcome=LineOutcome.FAILED,
        pod=_name(pod) if pod else "",
        uid=pod.uid if pod else "",
        group=_group_name(report.group) if isinstance(report, ReportGroup) else "",
        form=_form(report.group) if isinstance(report, ReportGroup) else "",
        composite=isinstance(report, ReportGroup) and report.group.is_composite,
        scheduler=pod.scheduler_name if pod else "",
        message=report.message,
    )


def _write(line: Line) -> None:
    log.info("%s", msgspec.json.encode(line).decode())


def _name(pod: PodRef) -> str:
    return f"{pod.namespace}/{pod.name}"


def _group_name(who: GroupKey | PodRef) -> str:
    """Namespace and name, without the form, so that it can be searched for."""
    if isinstance(who, PodRef):
        return ""
    return "/".join(filter(None, (who.namespace, who.name, who.pod_group, who.replica_key)))


def _form(who: GroupKey | PodRef) -> str:
    return "" if isinstance(who, PodRef) or who.form in {NATIVE_FORM, WORKLOAD_FORM} else who.form


def _seconds(duration: float) -> float:
    """Rounded to microseconds; never negative, even if the clock was set back."""
    return max(0.0, round(duration, 6))
