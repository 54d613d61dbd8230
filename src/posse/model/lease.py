"""Lease: who holds a role, and since when; also the heartbeat of a node."""

from typing import Annotated

from posse.model.constraints import Minimum
from posse.model.meta import ApiObject, Int32, Shape, Timestamp


class LeaseSpec(Shape):
    holder_identity: str | None = None
    lease_transitions: Annotated[Int32 | None, Minimum(0)] = None
    lease_duration_seconds: Annotated[Int32 | None, Minimum(1, "must be greater than 0")] = None
    acquire_time: Timestamp = ""
    renew_time: Timestamp = ""
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(ApiObject):
    """A claim on a role that expires unless it is renewed."""

    spec: LeaseSpec = LeaseSpec()
