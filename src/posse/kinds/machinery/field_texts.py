"""What `kubectl explain` says about fields whose structs do not say it, from the table beside this module.

A line of the table is a field, or a field of one struct, and a sentence. The sentence of the struct's own
field goes first.
"""

from functools import cache
from importlib.resources import files

from posse.kinds.machinery.kind import Json


def described(schemas: Json) -> Json:
    """Return schemas in which every field has a description that has one in the table."""
    return {name: _described(name.rpartition(".")[2], schema) for name, schema in schemas.items()}


def _described(struct: str, schema: Json) -> Json:
    if "properties" not in schema:
        return schema
    members = {name: _member(struct, name, member) for name, member in schema["properties"].items()}
    return schema | {"properties": members}


def _member(struct: str, name: str, member: Json) -> Json:
    text = _texts().get(f"{struct}.{name}") or _texts().get(name)
    if text is None or "description" in member:
        return member
    # A reference may have no neighbours.
    return {"description": text, **({"allOf": [member]} if "$ref" in member else member)}


@cache
def _texts() -> dict[str, str]:
    lines = files(__package__).joinpath("field_texts.txt").read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)
