"""Calls of functions: which overload is meant, found by types beforehand or by values while it runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from posse.cel.errors import EvaluationError
from posse.cel.functions import Overload, accepts
from posse.cel.library import LIBRARY
from posse.cel.pieces import Frame, Piece, charge, steps_of
from posse.cel.syntax import FunctionCall
from posse.cel.types import DYN, Type, fits, is_known, resolve
from posse.cel.values import Value

if TYPE_CHECKING:
    from posse.cel.compiler import Compiler

# Comparing two values or adding two numbers is one step, whatever they are.
_UNIT_COST = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "!_", "-_", "_-_", "_*_", "_/_", "_%_"})


def compile_call(compiler: "Compiler", node: FunctionCall) -> Piece:
    overloads = LIBRARY.get(node.function)
    if overloads is None:
        raise compiler.fail(f"undeclared reference to '{node.function}' (in container '')", node.offset)
    operands = node.arguments if node.target is None else (node.target, *node.arguments)
    pieces = [compiler.compile(operand) for operand in operands]
    types = [piece.type for piece in pieces]
    candidates = [
        overload
        for overload in overloads
        if overload.is_method == (node.target is not None) and _is_applicable(overload, types)
    ]
    if not candidates:
        applied = _applied(types, node.target is not None)
        raise compiler.fail(
            f"found no matching overload for '{node.function}' applied to '{applied}'", node.offset
        )
    weight = max(overload.cost_per_size for overload in candidates)
    sizes = sum(piece.size for piece in pieces)
    is_unit = node.function in _UNIT_COST
    return Piece(
        _result(candidates, types),
        _runner(
            candidates, [piece.run for piece in pieces], all(map(is_known, types)), 0 if is_unit else weight
        ),
        sum(piece.cost for piece in pieces) + 1 + (0 if is_unit else weight * sizes),
        max(sizes, 1),
    )


def _is_applicable(overload: Overload, types: list[Type]) -> bool:
    if len(overload.parameters) != len(types):
        return False
    bound: dict[Type, Type] = {}
    return all(
        fits(parameter, kind, bound) for parameter, kind in zip(overload.parameters, types, strict=True)
    )


def _result(candidates: list[Overload], types: list[Type]) -> Type:
    """The one type that all candidates give; dyn if they differ."""
    results = set()
    for overload in candidates:
        bound: dict[Type, Type] = {}
        for parameter, kind in zip(overload.parameters, types, strict=True):
            fits(parameter, kind, bound)
        results.add(resolve(overload.result, bound))
    return results.pop() if len(results) == 1 else DYN


def _applied(types: list[Type], is_method: bool) -> str:
    if is_method:
        return f"{types[0]}.({', '.join(map(str, types[1:]))})"
    return f"({', '.join(map(str, types))})"


def _runner(
    candidates: list[Overload], operands: list[Callable[[Frame], Value]], are_known: bool, weight: float
) -> Callable[[Frame], Value]:
    if candidates[0].is_lazy:
        *eager, last = operands
        lazy = candidates[0].run
        return lambda frame: lazy(*(operand(frame) for operand in eager), lambda: last(frame))
    certain = candidates[0].run if len(candidates) == 1 and are_known else None

    def run(frame: Frame) -> Value:
        arguments = tuple(operand(frame) for operand in operands)
        if weight:
            charge(frame, 1 + weight * sum(map(steps_of, arguments)))
        result = (certain or _chosen(candidates, arguments))(*arguments)
        if weight:
            charge(frame, steps_of(result))
        return result

    return run


def _chosen(candidates: list[Overload], arguments: tuple[Value, ...]) -> Callable[..., Value]:
    for overload in candidates:
        if accepts(overload, arguments):
            return overload.run
    raise EvaluationError("no such overload")
