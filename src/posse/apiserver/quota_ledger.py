"""What the objects of a namespace take of its quotas, kept up to date with every write.

A namespace is counted when its first object is checked; a quota that comes or changes later is counted then.
The status of a quota is for people: a controller writes it, and nothing here reads it.
"""

from collections.abc import Callable, Iterable

from posse.kinds.core.pod_amounts import Amounts, milli_amounts
from posse.kinds.core.resource_quotas import charge, counts, missing_amounts, printed_amount
from posse.kinds.machinery.errors import ApiError, forbidden
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.quota_kinds import QUOTA_KINDS
from posse.kinds.registry import POD, RESOURCE_QUOTA

List = Callable[[Kind, str | None], Iterable[Json]]


class QuotaLedger:
    def __init__(self, objects: List) -> None:
        self._list = objects
        # Quotas with what is used of them, by namespace.
        self._used: dict[str, list[tuple[Json, Amounts]]] = {}

    def check(self, kind: Kind, obj: Json, old: Json | None = None) -> None:
        """Raise ApiError if the namespace has no room for a new object, or for what it takes beyond `old`."""
        if kind not in QUOTA_KINDS:
            return
        namespace = obj["metadata"]["namespace"]
        if namespace not in self._used:
            quotas = self._list(RESOURCE_QUOTA, namespace)
            self._used[namespace] = [(quota, self._count(quota, namespace)) for quota in quotas]
        for quota, used in self._used[namespace]:
            _check(kind, obj, old, quota, used)

    def move(self, kind: Kind, old: Json | None, new: Json | None) -> None:
        """Note that an object became another; None before its creation and after its deletion."""
        if not self._used:
            return
        namespace = ((new or old or {}).get("metadata") or {}).get("namespace", "")
        if kind in QUOTA_KINDS:
            for quota, used in self._used.get(namespace, ()):
                if old is not None:
                    used.subtract(charge(kind, old, quota))
                if new is not None:
                    used.update(charge(kind, new, quota))
        if kind is RESOURCE_QUOTA:
            self._quota_changed(namespace, old, new)

    def _quota_changed(self, namespace: str, old: Json | None, new: Json | None) -> None:
        """A new status changes nothing, and other quotas stay as they were counted."""
        if namespace not in self._used:
            return
        name = (new or old or {})["metadata"]["name"]
        known = {quota["metadata"]["name"]: used for quota, used in self._used[namespace]}
        entries = [entry for entry in self._used[namespace] if entry[0]["metadata"]["name"] != name]
        if new is not None:
            is_same = old is not None and old.get("spec") == new.get("spec")
            used = known[name] if is_same and name in known else self._count(new, namespace)
            entries.append((new, used))
        self._used[namespace] = sorted(entries, key=lambda entry: str(entry[0]["metadata"]["name"]))

    def _count(self, quota: Json, namespace: str) -> Amounts:
        used = Amounts()
        for kind in QUOTA_KINDS:
            for obj in self._list(kind, namespace):
                used.update(charge(kind, obj, quota))
        return used


def _check(kind: Kind, obj: Json, old: Json | None, quota: Json, used: Amounts) -> None:
    hard, name = (quota.get("spec") or {}).get("hard") or {}, quota["metadata"]["name"]
    is_counted = old is not None and counts(kind, old, quota)
    if (
        kind is POD
        and not is_counted
        and counts(kind, obj, quota)
        and (missing := missing_amounts(obj, quota))
    ):
        raise _refused(kind, obj, f"failed quota: {name}: must specify {'; '.join(missing)}")
    limits, wanted = milli_amounts(hard), charge(kind, obj, quota)
    if old is not None:
        wanted.subtract(charge(kind, old, quota))
    over = sorted(
        each for each, amount in wanted.items() if amount > 0 and used[each] + amount > limits[each]
    )
    if over:
        parts = {
            "requested": {each: printed_amount(wanted[each], hard[each]) for each in over},
            "used": {each: printed_amount(used[each], hard[each]) for each in over},
            "limited": {each: hard[each] for each in over},
        }
        said = (f"{word}: {','.join(f'{k}={v}' for k, v in part.items())}" for word, part in parts.items())
        raise _refused(kind, obj, f"exceeded quota: {name}, {', '.join(said)}")


def _refused(kind: Kind, obj: Json, text: str) -> ApiError:
    return forbidden(kind, obj["metadata"].get("name") or "", text)
