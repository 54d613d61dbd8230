"""Defaults and validates custom resources as they are observed, before a reconciler sees them.

In other clusters no API server does so when they are written. An invalid object gets a condition, and the
reconciler keeps to its last valid version.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler
from posse.controllers.steps import News, Plan, Write, is_deleting
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind
from posse.model.decoding import ShapeError, decode
from posse.model.timestamps import format_timestamp

Json = dict[str, Any]

INVALID = "Invalid"
MENDED = News("Mended", "the object can be what it says")


def _no_refusals(_obj: Any) -> list[FieldError]:
    return []


class Unadmitted(Reconciler):
    """A Reconciler. `refusals` says what else cannot be, given a subject as its struct."""

    subject_kind: Kind

    def __init__(
        self,
        subject_kind: Kind,
        reconciler: Reconciler,
        refusals: Callable[[Any], list[FieldError]] = _no_refusals,
    ) -> None:
        self.subject_kind = subject_kind
        self.reporter = reconciler.reporter
        self.kinds = reconciler.kinds
        self.selectors = reconciler.selectors
        self.touched = reconciler.touched
        self._reconciler = reconciler
        self._refusals = refusals
        # The subjects as they are written; the reconciler is shown them filled in, and only if they can be.
        self._seen = ObservedObjects()
        self._accepted: dict[str, Any] = {}
        self._problems: dict[str, str] = {}

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is not self.subject_kind:
            self._reconciler.see(kind, obj)
        elif self._seen.see(kind, obj):
            self._judge(obj)
            self.touched.add(obj["metadata"]["uid"])

    def lose(self, kind: Kind, obj: Json) -> None:
        self._reconciler.lose(kind, obj)
        if kind is self.subject_kind:
            uid = obj["metadata"]["uid"]
            self._seen.lose(obj)
            self._accepted.pop(uid, None)
            self._problems.pop(uid, None)

    def subject(self, key: str) -> Json | None:
        return self._seen.get(key)

    def plan(self, key: str, now: float) -> Plan:
        obj = self._seen.get(key)
        if obj is None or is_deleting(obj):
            return self._reconciler.plan(key, now)
        problem = self._problems.get(key, "")
        known = next((item for item in _conditions(obj) if item.get("type") == INVALID), {})
        if not problem and known.get("status") != "True":
            return self._reconciler.plan(key, now)
        news = News(INVALID, problem, is_warning=True) if problem else MENDED
        return self._told(obj, known, news, now)

    def _judge(self, obj: Json) -> None:
        uid, filled = obj["metadata"]["uid"], deepcopy(obj)
        self.subject_kind.rules.default_new(filled)
        self.subject_kind.rules.default(filled)
        try:
            subject: Any = decode(self.subject_kind.struct, filled)
        except ShapeError as error:
            self._problems[uid] = str(error)
            return
        rules, before = self.subject_kind.rules, self._accepted.get(uid)
        errors = rules.validate(subject) if before is None else rules.validate_update(subject, before)
        errors += self._refusals(subject)
        if errors:
            self._problems[uid] = "; ".join(str(error) for error in errors)
            return
        self._problems.pop(uid, None)
        self._accepted[uid] = subject
        self._reconciler.see(self.subject_kind, filled)

    def _told(self, obj: Json, known: Json, news: News, now: float) -> Plan:
        """Return the plan that says so on the object, if it does not say so already."""
        status = "True" if news.is_warning else "False"
        condition = {"type": INVALID, "status": status, "reason": news.reason, "message": news.message}
        if condition.items() <= known.items():
            return Plan()
        time = known.get("lastTransitionTime") if known.get("status") == status else format_timestamp(now)
        others = [item for item in _conditions(obj) if item is not known]
        conditions = [*others, condition | {"lastTransitionTime": time}]
        written = obj | {"status": (obj.get("status") or {}) | {"conditions": conditions}}
        return Plan(stages=[[Write(self.subject_kind, written, "status")]], news=[news])


def _conditions(obj: Json) -> list[Json]:
    return (obj.get("status") or {}).get("conditions") or []
