"""Since when a pod is ready, read from its conditions."""

from collections.abc import Mapping
from typing import Any

from posse.model.timestamps import TimestampError, parse_timestamp


def ready_since(pod: Mapping[str, Any]) -> float | None:
    """Return when the pod became ready, None when it is not; a time that cannot be read is long ago."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Ready" and condition.get("status") == "True":
            try:
                return parse_timestamp(condition.get("lastTransitionTime") or "")
            except TimestampError:
                return 0.0
    return None
