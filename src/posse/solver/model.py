"""A placement problem as a constraint model: numbers of pods per group, pod set and cell.

A cell is one node or several identical ones. With identical nodes merged, the model is a small relaxation:
if it has no solution, there is none. With one node per cell, the model is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from posse.engine.placement_problem import EvictableUnit, GroupDemand, PlacementProblem


@dataclass(frozen=True, slots=True)
class Cell:
    nodes: tuple[int, ...]
    """Identical as far as the problem describes them."""


@dataclass(slots=True)
class Model:
    problem: PlacementProblem
    cells: tuple[Cell, ...]
    program: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    counts: list[list[dict[int, cp_model.IntVar]]] = field(default_factory=list)
    """Number of pods by group of pods, by pod set, by cell."""
    load: list[list[tuple[int, cp_model.IntVar]]] = field(default_factory=list)
    """By cell: pod set and variable of all pods that may be placed there."""
    evicted: list[cp_model.IntVar] = field(default_factory=list)
    """Whether each of the evictable units is evicted."""
    freed: dict[int, list[tuple[cp_model.IntVar, tuple[int, ...]]]] = field(default_factory=dict)
    """By node: units with pods there, and their requests by resource."""
    minimums: list[tuple[GroupDemand, cp_model.IntVar]] = field(default_factory=list)
    """Groups with minimum resources, and the variable that says whether each starts."""


def together(problem: PlacementProblem) -> tuple[Cell, ...]:
    """Merge identical nodes into one cell."""
    alike: dict[tuple[int, ...], list[int]] = {}
    devices = (problem.mix_of,) if problem.mix_of else ()
    columns = (*problem.free, *problem.domains, *(sort.room for sort in problem.pod_sets), *devices)
    for node, features in enumerate(zip(*columns, strict=True)):
        alike.setdefault(features, []).append(node)
    return tuple(Cell(tuple(nodes)) for nodes in alike.values())


def apart(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """One cell per node; identical nodes stay next to each other."""
    return tuple(Cell((node,)) for cell in cells for node in cell.nodes)


def build(problem: PlacementProblem, cells: tuple[Cell, ...], units: Sequence[EvictableUnit] = ()) -> Model:
    """With units that may be evicted, each node is a cell of its own."""
    model = Model(problem, cells, load=[[] for _ in cells])
    for unit in units:
        model.evicted.append(model.program.new_bool_var(""))
        for node, amounts in unit.freed:
            model.freed.setdefault(node, []).append((model.evicted[-1], amounts))
    started = _add_team(model, problem.root, ())
    model.program.add(started == 1)
    _limit_load(model)
    if problem.mix_of:
        _limit_mixes(model)
    if model.minimums:
        _hold_minimums(model)
    return model


_Domains = tuple[tuple[int, dict[int, cp_model.IntVar]], ...]
"""Topology key, and a variable per domain, for the group and each ancestor that has a key."""


def _add_team(model: Model, demand: GroupDemand, above: _Domains) -> cp_model.IntVar:
    """Add a group and return the variable that says whether it starts."""
    started = model.program.new_bool_var("")
    if demand.minimum_resources:
        model.minimums.append((demand, started))
    around = (*above, (demand.key, _choice(model, demand, started))) if demand.key is not None else above
    if demand.children:
        children = [_add_team(model, child, around) for child in demand.children]
        for child in children:
            model.program.add_implication(child, started)
        model.program.add(sum(children) >= demand.minimum).only_enforce_if(started)
    else:
        _add_pods(model, demand, started, around)
    return started


def _choice(model: Model, demand: GroupDemand, started: cp_model.IntVar) -> dict[int, cp_model.IntVar]:
    """One variable per domain; exactly one is true if the group starts."""
    column = model.problem.domains[demand.key or 0]
    domains = (
        sorted({domain for domain in column if domain >= 0}) if demand.domain is None else [demand.domain]
    )
    chosen = {domain: model.program.new_bool_var("") for domain in domains}
    model.program.add(sum(chosen.values()) == started)
    return chosen


def _add_pods(model: Model, demand: GroupDemand, started: cp_model.IntVar, around: _Domains) -> None:
    counts = [_add_sort(model, sort, number, around) for sort, number in demand.pods]
    for (_, number), placed in zip(demand.pods, counts, strict=True):
        if placed:
            model.program.add(sum(placed.values()) <= number * started)
    everything = [variable for placed in counts for variable in placed.values()]
    model.program.add(sum(everything) == demand.minimum * started)
    model.counts.append(counts)


def _add_sort(model: Model, sort: int, number: int, around: _Domains) -> dict[int, cp_model.IntVar]:
    placed: dict[int, cp_model.IntVar] = {}
    room = model.problem.pod_sets[sort].room
    for index, cell in enumerate(model.cells):
        first = cell.nodes[0]
        most = min(number, room[first] * len(cell.nodes))
        places = [(key, model.problem.domains[key][first], chosen) for key, chosen in around]
        if most and all(domain in chosen for _, domain, chosen in places):
            variable = placed[index] = model.program.new_int_var(0, most, "")
            model.load[index].append((sort, variable))
            for _, domain, chosen in places:
                model.program.add(variable <= most * chosen[domain])
    return placed


def _limit_load(model: Model) -> None:
    for index, cell in enumerate(model.cells):
        for resource, column in enumerate(model.problem.free):
            wanted = [
                model.problem.pod_sets[sort].wanted[resource] * variable
                for sort, variable in model.load[index]
                if model.problem.pod_sets[sort].wanted[resource]
            ]
            if not wanted:
                continue
            free, more = column[cell.nodes[0]], _freed_on(model, cell.nodes[0], resource)
            if free >= 0 or not more:
                # Another scheduler may have overcommitted the node; then nothing more fits.
                model.program.add(sum(wanted) <= max(free, 0) * len(cell.nodes) + sum(more))
            else:
                is_used = model.program.new_bool_var("")
                model.program.add(sum(wanted) <= free + sum(more)).only_enforce_if(is_used)
                model.program.add(sum(wanted) == 0).only_enforce_if(~is_used)


def _freed_on(model: Model, node: int, resource: int) -> list[cp_model.LinearExpr]:
    return [amounts[resource] * unit for unit, amounts in model.freed.get(node, ()) if amounts[resource]]


def _hold_minimums(model: Model) -> None:
    """The minimum resources of all groups that start are free at once."""
    for resource, elsewhere in enumerate(model.problem.elsewhere):
        needed = [
            amount * started
            for demand, started in model.minimums
            for index, amount in demand.minimum_resources
            if index == resource
        ]
        free = elsewhere + sum(max(amount, 0) for amount in model.problem.free[resource])
        if needed:
            model.program.add(sum(needed) <= max(free, 0))


def _limit_mixes(model: Model) -> None:
    """The pods of each node are contained in one of the mixes that find devices there."""
    for index, cell in enumerate(model.cells):
        mixes = model.problem.mixes[model.problem.mix_of[cell.nodes[0]]]
        chosen = [model.program.new_int_var(0, len(cell.nodes), "") for _ in mixes]
        model.program.add(sum(chosen) == len(cell.nodes))
        for sort in dict.fromkeys(sort for sort, _ in model.load[index]):
            if mixes[0][sort] >= 0:
                placed = sum(variable for other, variable in model.load[index] if other == sort)
                room = sum(mix[sort] * nodes for mix, nodes in zip(mixes, chosen, strict=True))
                model.program.add(placed <= room)
