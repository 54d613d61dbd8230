"""Decodes plain data into structs and reports every unknown field and wrong type with its path."""

from typing import Any, TypeVar

from posse.configuration.problems import ConfigurationProblem, suggestion
from posse.model.decoding import ShapeError, decode, drop_nulls
from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of

S = TypeVar("S", bound=Shape)
Json = dict[str, Any]


def decoded(struct: type[S], data: Any, path: str, problems: list[ConfigurationProblem]) -> S:
    """Return the struct; fields that do not fit are dropped and added to the problems."""
    return decode(struct, _fitting(struct, drop_nulls(data), path, problems))


def _fitting(struct: type[Shape], data: Any, path: str, problems: list[ConfigurationProblem]) -> Json:
    """Return the part of the data that fits the struct."""
    if not isinstance(data, dict):
        problems.append(ConfigurationProblem(path, f"expected an object, got {_word(data)}"))
        return {}
    known = fields_of(struct)
    fitting: Json = {}
    for name, value in data.items():
        field = f"{path}.{name}" if path else str(name)
        shape = known.get(name)
        if shape is None:
            problems.append(ConfigurationProblem(field, f"unknown field; {suggestion(str(name), known)}"))
        elif shape.struct is not None and shape.holds != "map":
            fitting[name] = _nested(shape, shape.struct, value, field, problems)
        elif problem := _value_problem(struct, name, value, path):
            problems.append(problem)
        else:
            fitting[name] = value
    return fitting


def _nested(
    shape: FieldShape, struct: type[Shape], value: Any, path: str, problems: list[ConfigurationProblem]
) -> Json | list[Json]:
    if shape.holds == "one":
        return _fitting(struct, value, path, problems)
    if not isinstance(value, list):
        problems.append(ConfigurationProblem(path, f"expected a list, got {_word(value)}"))
        return []
    return [_fitting(struct, item, f"{path}[{index}]", problems) for index, item in enumerate(value)]


def _value_problem(struct: type[Shape], name: str, value: Any, path: str) -> ConfigurationProblem | None:
    """All fields have defaults, so that one field can be decoded on its own."""
    try:
        decode(struct, {name: value})
    except ShapeError as error:
        return ConfigurationProblem(f"{path}.{error.path}" if path else error.path, error.message)
    return None


def _word(value: Any) -> str:
    words = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "nothing"}
    return words.get(type(value), "a number")
