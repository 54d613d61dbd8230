"""Functions that read what others wrote: each takes it or refuses it with the error it promises."""

import contextlib
import json

import yaml

from posse.apiserver.http.yaml_values import load_documents
from posse.kinds.machinery.patching import PatchError, json_patch, merge_patch, strategic_merge_patch
from posse.kinds.registry import NODE, POD
from posse.model.decoding import ShapeError, decode, known_part, unknown_fields
from posse.model.quantity import QuantityError, canonical, milli_value, parse_quantity, value
from posse.model.selectors import SelectorError, parse_field_selector, parse_label_selector
from posse.model.timestamps import parse_timestamp
from tests.fuzz.expressions import expressions
from tests.fuzz.generation import NUMBERS, Maker

PATCHES = {
    "application/json-patch+json": lambda _struct, obj, body: json_patch(obj, body),
    "application/merge-patch+json": lambda _struct, obj, body: merge_patch(obj, body),
    "application/strategic-merge-patch+json": strategic_merge_patch,
}


def quantities(maker):
    raw = maker.chance.choice([maker.text(), maker.chance.choice(NUMBERS), _number_like(maker)])
    try:
        parse_quantity(raw)
    except QuantityError:
        return
    # What can be read can be used.
    assert isinstance(value(raw), int)
    assert isinstance(milli_value(raw), int)
    assert canonical(canonical(raw)) == canonical(raw)


def _number_like(maker):
    return "".join(maker.chance.choices("0123456789.eE+-kKMGTPEimnu _", k=maker.chance.randrange(1, 14)))


def selectors(maker):
    text = "".join(
        maker.chance.choices(
            ["a", "b", "=", "==", "!=", ",", "in", "notin", " ", "(", ")", "!", ">", "x/y", "\0"], k=9
        )
    )
    for parse in (parse_label_selector, parse_field_selector):
        try:
            parse(maker.chance.choice([text, maker.text()]))
        except SelectorError:
            continue


def timestamps(maker):
    try:
        parse_timestamp(maker.text())
    except ValueError:
        return


def decoding(maker):
    kind = maker.kind()
    obj = maker.object(kind)
    with contextlib.suppress(ShapeError):
        decode(kind.struct, obj)
    if isinstance(obj, dict):
        unknown_fields(kind.struct, obj)
        known_part(kind.struct, obj)


def patches(maker):
    kind = maker.chance.choice([POD, NODE, maker.kind()])
    obj = maker.object(kind)
    if not isinstance(obj, dict):
        return
    media_type, body = maker.patch(obj)
    before = json.dumps(obj)
    with contextlib.suppress(PatchError):
        PATCHES[media_type](kind.struct, obj, body)
    assert json.dumps(obj) == before, "a patch changes its object"


def yaml_documents(maker):
    text = json.dumps(maker.anything()).translate(
        str.maketrans(maker.chance.choice([{}, {'"': "'", "{": "&a [", "}": "*a"}]))
    )
    try:
        load_documents(text, aliases=False)
    except (ValueError, yaml.YAMLError):
        return


TARGETS = (quantities, selectors, timestamps, decoding, patches, yaml_documents, expressions)


def fuzz(runs, seed):
    """Raise what a target does not promise, with the seed that shows it again."""
    for number in range(seed, seed + runs):
        for target in TARGETS:
            try:
                target(Maker(number, wildness=0.05))
            except Exception as error:
                error.add_note(f"{target.__name__}, seed {number}")
                raise
