"""Lease: who holds a role, and since when; also the heartbeat of a node."""

from posse.model.meta import ApiObject, Int32, Shape, Timestamp


class LeaseSpec(Shape):
    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    acquire_time: Timestamp = ""
    renew_time: Timestamp = ""
    lease_transitions: Int32 | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(ApiObject):
    """A claim on a role that expires unless it is renewed."""

    spec: LeaseSpec = LeaseSpec()
