"""What an object is told by the rules of its kind, after the way a request takes: defaults, decoding, validation."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from posse.kinds.machinery.kind import Kind
from posse.kinds.machinery.patching import merge_patch
from posse.model.decoding import decode

Json = dict[str, Any]
Judge = Callable[..., list[str]]


@pytest.fixture
def problems() -> Judge:
    """Judge a new object, made from another by a merge patch."""

    def judge(kind: Kind, obj: Json, patch: Json | None = None) -> list[str]:
        new = merge_patch(copy.deepcopy(obj), patch or {})
        kind.rules.default_new(new)
        kind.rules.default(new)
        return [str(error) for error in kind.rules.validate(decode(kind.struct, new))]

    return judge


@pytest.fixture
def update_problems() -> Judge:
    """Judge the change that a merge patch makes to an existing object."""

    def judge(kind: Kind, obj: Json, patch: Json) -> list[str]:
        old = copy.deepcopy(obj)
        kind.rules.default_new(old)
        kind.rules.default(old)
        new = merge_patch(copy.deepcopy(old), patch)
        kind.rules.default(new)
        errors = kind.rules.validate_update(decode(kind.struct, new), decode(kind.struct, old))
        return [str(error) for error in errors]

    return judge
