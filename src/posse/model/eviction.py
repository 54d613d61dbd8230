"""Eviction: the wish that a pod leaves its node as far as disruption budgets allow it."""

from posse.model.meta import ApiObject, Int64, Shape


class EvictionPreconditions(Shape):
    uid: str = ""
    resource_version: str = ""


class EvictionDeleteOptions(Shape):
    grace_period_seconds: Int64 | None = None
    preconditions: EvictionPreconditions | None = None
    propagation_policy: str = ""
    dry_run: tuple[str, ...] = ()


class Eviction(ApiObject):
    """Asks for the pod named in the metadata to be deleted, unless a budget forbids it."""

    delete_options: EvictionDeleteOptions | None = None
