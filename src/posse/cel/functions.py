"""What a function of the library is: a name with overloads, each for other types of arguments."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from posse.cel.types import DYN, Type
from posse.cel.values import Value, type_of


class Overload(NamedTuple):
    """One signature of a function. The target of a method is the first of the parameters."""

    parameters: tuple[Type, ...]
    result: Type
    run: Callable[..., Value]
    is_method: bool = False
    # How often the size of the arguments is gone through, in tenths, as the cost of string functions counts.
    cost_per_size: float = 0.1
    # The last argument is passed as a function, which is called only if its value is needed.
    is_lazy: bool = False


Library = Mapping[str, tuple[Overload, ...]]


def gather(parts: Iterable[Mapping[str, Iterable[Overload]]]) -> Library:
    """One library of several; overloads of one name in several parts are joined."""
    library: dict[str, tuple[Overload, ...]] = {}
    for part in parts:
        for name, overloads in part.items():
            library[name] = library.get(name, ()) + tuple(overloads)
    return library


def function(*parameters: Type, to: Type, run: Callable[..., Value], cost_per_size: float = 0.1) -> Overload:
    return Overload(parameters, to, run, False, cost_per_size)


def method(*parameters: Type, to: Type, run: Callable[..., Value], cost_per_size: float = 0.1) -> Overload:
    return Overload(parameters, to, run, True, cost_per_size)


def lazy_method(*parameters: Type, to: Type, run: Callable[..., Value]) -> Overload:
    return Overload(parameters, to, run, True, is_lazy=True)


def accepts(overload: Overload, arguments: tuple[Value, ...]) -> bool:
    """Whether the overload is made for these values: decided by kind, not by what a list holds."""
    return all(
        parameter == DYN or parameter.name.startswith("<") or parameter.name == type_of(argument).name
        for parameter, argument in zip(overload.parameters, arguments, strict=True)
    )
