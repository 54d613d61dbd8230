"""How a simulated node is told to fail, by annotations, and what that means for it.

A node that crashed or lost its network is silent: no heartbeats, and no word of its pods. A value that is not
known means no failure.
"""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

Json = Mapping[str, Any]

FAILURE = "posse.dev/failure"
"""On a simulated node: how it fails, as crash, network or not-ready."""
NOTICE_SECONDS = "posse.dev/notice-seconds"
"""On a simulated node: after how many seconds its silence is noticed."""


class FailureMode(StrEnum):
    NOT_READY = "not-ready"
    """The kubelet reports that the node is not ready. Its pods go on, and can be stopped."""
    NETWORK = "network"
    """The node cannot be reached. Its pods go on."""
    CRASH = "crash"
    """The node is down. Its containers have ended when it comes back."""


def failure_of(node: Json) -> FailureMode | None:
    asked = _annotations(node).get(FAILURE)
    return next((failure for failure in FailureMode if failure == asked), None)


def is_silent(node: Json) -> bool:
    return failure_of(node) in (FailureMode.NETWORK, FailureMode.CRASH)


def notice_seconds(node: Json, usual: float) -> float:
    """Return after which time the silence of a node is noticed."""
    if not is_silent(node):
        return usual
    try:
        seconds = float(_annotations(node).get(NOTICE_SECONDS, usual))
    except ValueError:
        return usual
    return seconds if math.isfinite(seconds) and seconds >= 0 else usual


def _annotations(node: Json) -> Mapping[str, str]:
    return node["metadata"].get("annotations") or {}
