"""No plan is made for an object beyond a limit (see posse.model.limits); an event on it says so.

The embedded API server refuses such objects, but an older version may have stored one, and other API servers
accept them. A StatefulSet of a thousand million pods would take all memory.
"""

from posse.controllers.reconciler import EventDedup, Reconciler
from posse.controllers.steps import News, Plan
from posse.model.decoding import decode
from posse.model.limits import first_excess


class BoundedPlans:
    def __init__(self, reconciler: Reconciler) -> None:
        self._reconciler = reconciler
        self._told = EventDedup()

    def plan(self, key: str, now: float) -> Plan:
        kind = self._reconciler.subject_kind
        subject = self._reconciler.subject(key) if kind is not None else None
        if kind is None or subject is None:
            self._told.forget(key)
            return self._reconciler.plan(key, now)
        excess = first_excess(decode(kind.struct, subject))
        if excess is None:
            self._told.forget(key)
            return self._reconciler.plan(key, now)
        return self._told.plan(key, News("LimitExceeded", str(excess), is_warning=True))
