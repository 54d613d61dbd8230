"""Runs `posse top`: reads the cluster and prints the users of a resource, the largest first."""

from typing import Any

import typer

from posse.cli.configuration_file import rules_in_force
from posse.cli.output import Output, print_data
from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import Survey, survey_cluster
from posse.cli.reading.placements import is_gpu, rack_label
from posse.cli.reading.sources import ClusterSource
from posse.cli.session import Rules
from posse.cli.tables import aligned
from posse.cli.top.usage import (
    Key,
    ResourceUsage,
    add_guarded,
    by_nodes,
    by_pods,
    default_resource,
    gang_of,
    label_of,
    namespace_of,
    resources_of,
    total_of,
)
from posse.engine.groups.forms import group_of
from posse.engine.reporting.cause_messages import amount_text
from posse.model.pod import Pod

Json = dict[str, Any]

BAR_WIDTH = 10


def show_usage(
    source: ClusterSource, resource: str, by: str, namespace: str | None, rules: Rules, output: Output
) -> None:
    survey = survey_cluster(source, rules_in_force(rules, source))
    chosen = resource_named(survey, resource)
    rows = usage_rows(survey, chosen, by, namespace)
    total = total_of(survey, chosen)
    ordered = sorted(rows.items(), key=lambda row: (-row[1].held, -row[1].waiting, row[0]))
    if output.is_data:
        print_data(as_data(chosen, by, ordered, total), output)
        return
    typer.echo(headline(chosen, total))
    if ordered:
        typer.echo()
    for line in usage_table(chosen, by, ordered, total, wide=output is Output.wide):
        typer.echo(line)


def resource_named(survey: Survey, name: str) -> str:
    """The resource of that name; `gpu` stands for the GPUs of the cluster. Problem: no node has it."""
    nodes = list(survey.nodes.values())
    there = resources_of(nodes)
    if not name:
        return default_resource(nodes)
    if name in there:
        return name
    if name.lower() in {"gpu", "gpus"} and there and is_gpu(there[0]):
        return there[0]
    offers = f"there are {', '.join(there)}" if there else "the cluster has no nodes"
    raise Problem(f"no node has the resource {name}; {offers}")


def usage_rows(survey: Survey, resource: str, by: str, namespace: str | None) -> dict[Key, ResourceUsage]:
    """Problem: it is neither a known criterion nor a label of a node."""
    if by == "gang":
        found = by_pods(survey, resource, namespace, gang_of)
        add_guarded(survey, resource, found)
        return found
    if by == "namespace":
        return by_pods(survey, resource, namespace, namespace_of)
    if by == "priority":
        priorities = {now.key: now.priority for now in survey.situations()}

        def priority_of(pod: Pod) -> Key:
            key = group_of(pod)
            own = pod.spec.priority or 0
            return "", str(priorities.get(key, own) if key is not None else own)

        return by_pods(survey, resource, namespace, priority_of)
    nodes = survey.nodes.values()
    if by == "node":
        return by_nodes(survey, resource, lambda node: node.metadata.name)
    label = rack_label(nodes) if by == "rack" else by
    if not any(label in node.metadata.labels for node in nodes):
        what = "no node has a label that ends in rack" if by == "rack" else f"no node has the label {by}"
        raise Problem(f"--by {by}: {what}; use gang, namespace, priority, node, rack or a label of nodes")
    return by_nodes(survey, resource, label_of(label))


def headline(resource: str, total: ResourceUsage) -> str:
    parts = [f"{_text(resource, total.held)} of {_text(resource, total.total)} {resource} held"]
    if total.reserved:
        parts.append(f"{_text(resource, total.reserved)} reserved")
    parts.append(f"{_text(resource, total.free)} free")
    if total.closed:
        parts[-1] += f" ({_text(resource, total.closed)} of them on cordoned nodes)"
    if total.waiting:
        parts.append(f"{_text(resource, total.waiting)} requested by waiting pods")
    return ", ".join(parts)


def usage_table(
    resource: str, by: str, rows: list[tuple[Key, ResourceUsage]], total: ResourceUsage, *, wide: bool
) -> list[str]:
    if not rows:
        return []
    is_of_nodes = any(usage.total for _, usage in rows)
    with_namespace = any(key[0] for key, _ in rows)
    header = ["NAMESPACE"] if with_namespace else []
    header += [by.upper(), "HELD", "", "PODS"]
    header += ["FREE", "RESERVED", "TOTAL"] if is_of_nodes else ["WAITING", "RESERVED", "NODES"]
    if wide and is_of_nodes:
        header.append("NODES")
    table = [header]
    for key, usage in rows:
        whole = usage.total if is_of_nodes else total.total
        cells = [key[0]] if with_namespace else []
        cells += [key[1], _text(resource, usage.held), _bar(usage.held, whole), str(usage.pods)]
        counted = str(len(usage.nodes))
        if is_of_nodes:
            cells += [_text(resource, number) for number in (usage.free, usage.reserved, usage.total)]
            cells += [counted] if wide else []
        else:
            cells += [_text(resource, usage.waiting), _text(resource, usage.reserved), counted]
        table.append(cells)
    return aligned(table)


def as_data(resource: str, by: str, rows: list[tuple[Key, ResourceUsage]], total: ResourceUsage) -> Json:
    return {
        "resource": resource,
        "by": by,
        "total": _numbers(total),
        "rows": [
            ({"namespace": key[0]} if key[0] else {}) | {"name": key[1]} | _numbers(usage)
            for key, usage in rows
        ],
    }


def _numbers(usage: ResourceUsage) -> Json:
    capacity = {"total": usage.total, "free": usage.free} if usage.total else {}
    return {
        "held": usage.held,
        "pods": usage.pods,
        "waiting": usage.waiting,
        "reserved": usage.reserved,
        **capacity,
        "nodes": len(usage.nodes),
    }


def _text(resource: str, amount: int) -> str:
    return amount_text(resource, amount)


def _bar(held: int, whole: int) -> str:
    filled = round(BAR_WIDTH * min(held, whole) / whole) if whole else 0
    share = f"{100 * held / whole:.0f}%" if whole else ""
    return f"{'█' * filled}{'░' * (BAR_WIDTH - filled)} {share:>4}"
