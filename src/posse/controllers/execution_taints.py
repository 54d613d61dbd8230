"""Which NoExecute taints a toleration tolerates, on nodes and on devices."""

from typing import Any

from posse.model.device import NO_EXECUTE

Json = dict[str, Any]


def tolerates(toleration: Json, taint: Json) -> bool:
    """Whether a pod with the toleration may go on where the NoExecute taint is."""
    if (toleration.get("effect") or NO_EXECUTE) != NO_EXECUTE:
        return False
    key, is_any = toleration.get("key") or "", toleration.get("operator") == "Exists"
    if key != taint["key"]:
        return not key and is_any
    return is_any or (toleration.get("value") or "") == (taint.get("value") or "")
