"""Explanations for programs: what `posse explain -o json` prints."""

from collections.abc import Sequence
from typing import Any

import msgspec

from posse.cli.explain.changes import changes_of
from posse.cli.explain.group_line import lines_of
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.ended_members import has_ended
from posse.cli.reading.forecasts import forecasts_for
from posse.cli.reading.owners import Owners
from posse.engine.keys import GroupKey
from posse.engine.reporting.annotation_messages import annotation_text
from posse.engine.reporting.cause_messages import lack_text
from posse.model.pod import Pod

Json = dict[str, Any]


def group_data(survey: Survey, owners: Owners, keys: Sequence[GroupKey], now: float) -> list[Json]:
    """The fields of `posse gangs`, with placement, changes that would help, and conditions."""
    found = []
    forecasts = forecasts_for(survey, now)
    for key in keys:
        (line,) = lines_of(survey, owners, None, [key], forecasts)
        explanation = survey.explain(key)
        status = (survey.object_of(key) or {}).get("status") or {}
        found.append(
            msgspec.to_builtins(line)
            | {
                "wouldGoTo": dict(explanation.situation.placement),
                "changes": list(changes_of(explanation)),
                "notUsed": [annotation_text(one) for one in explanation.annotation_faults],
                "conditions": status.get("conditions") or [],
            }
        )
    return found


def pod_data(survey: Survey, pod: Pod) -> Json:
    explanation = survey.engine.explain_pod(pod.metadata.uid)
    why = ""
    if explanation is not None and not explanation.node:
        why = explanation.held
        if explanation.obstacle is not None:
            why = lack_text(explanation.obstacle.shortfall)
    return {
        "namespace": pod.metadata.namespace,
        "name": pod.metadata.name,
        "kind": "Pod",
        "phase": pod.status.phase,
        "node": pod.spec.node_name,
        "wouldGoTo": explanation.target if explanation is not None else "",
        "isScheduledHere": explanation is not None or has_ended(pod),
        "why": why,
    }
