"""What-if questions of the page, answered by the code of `posse plan`. Nothing is changed in the cluster."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from posse.cli.manifests import parse_manifests
from posse.cli.plan.overrides import Overrides
from posse.cli.plan.run import PlanQuestion, report_lines, report_of
from posse.cli.plan.what_ifs import ClusterChanges
from posse.cli.problems import Misuse
from posse.cli.reading.sources import ClusterSource
from posse.engine.options import EngineOptions

Json = dict[str, Any]


def plan_answer(source: ClusterSource, options: EngineOptions, arguments: Mapping[str, str]) -> Json:
    """Misuse or Problem: the question makes no sense."""
    question = plan_question(arguments, source.default_namespace)
    report = report_of(source, question, replace(options, asks=True))
    found: Json = msgspec.to_builtins(report)
    return found | {"text": report_lines(report, source.now(), has_question=bool(question.manifests))}


def plan_question(arguments: Mapping[str, str], default_namespace: str) -> PlanQuestion:
    text = arguments.get("manifest", "").strip()
    changes = ClusterChanges(*(_listed(arguments, name) for name in _CHANGES))
    overrides = Overrides(
        _number(arguments, "priority"), _number(arguments, "minCount"), arguments.get("noTopology") == "true"
    )
    question = PlanQuestion(
        list(parse_manifests(text, "the manifest")) if text else [],
        arguments.get("namespace") or default_namespace,
        changes,
        overrides,
        arguments.get("of", ""),
    )
    if question.manifests and question.of:
        raise Misuse("submit a manifest, or change a group that is there, not both at once")
    if not question.manifests and not changes and not question.of:
        raise Misuse("say what to plan: paste a manifest, or choose a change of the cluster or of a group")
    return question


_CHANGES = ("addNodes", "removeNode", "drain", "without")


def _listed(arguments: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in arguments.get(name, "").split(",") if part.strip())


def _number(arguments: Mapping[str, str], name: str) -> int | None:
    text = arguments.get(name, "").strip()
    if not text:
        return None
    try:
        return int(text)
    except ValueError as error:
        raise Misuse(f"{name}: {text!r} is not a number") from error
