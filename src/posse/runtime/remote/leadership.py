"""Leader election by a Lease: one scheduler holds it, others take it when it is no longer renewed.

Clocks of machines differ, so times in the lease are never compared with the own clock. A candidate waits for
as long as the lease lasts after it last saw it change. The holder counts from the moment before it asked for
its last renewal and stops sooner than that; it looks at the clock before each write, since a process can be
stopped and woken any time.
"""

import asyncio
import contextlib
import logging
import math
import random
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from posse.configuration.running import LeaseTerms
from posse.kinds.machinery.errors import FORBIDDEN, NOT_FOUND, ApiError
from posse.kinds.registry import LEASE
from posse.model.timestamps import format_micro_timestamp
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

Json = dict[str, Any]
NOT_LEADING = "NotLeading"
_JITTER = 1.2
_OBSERVE_SECONDS = 1.0
_TRIES = 2
"""At least so many before a lease is lost: a connection may be dead without a word, and the server well."""


def uninterrupted_seconds() -> float:
    """A clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Leadership:
    def __init__(
        self,
        transport: Transport,
        terms: LeaseTerms,
        identity: str,
        clock: Callable[[], float] = uninterrupted_seconds,
        annotations: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`annotations` are written on the lease while it is held."""
        self._annotations = dict(annotations)
        self._transport = transport
        self._terms = terms
        self.identity = identity
        self._clock = clock
        self._held_until = float("-inf")
        self._spec: Json = {}
        """What the lease said when it was last seen, and when that was first so."""
        self._since = float("-inf")
        self.holder = ""
        self._observed: Json | None = None
        """The lease before the cluster was read, if it was free then; {} if there was none."""
        self.is_first_since_observed = False
        """Whether it is held, and no other process has held it since `observe`."""

    @property
    def lease_name(self) -> str:
        return self._terms.name

    @property
    def is_leading(self) -> bool:
        return self._clock() < self._held_until

    def fence(self) -> None:
        """Refuse a write that another may already be making differently."""
        if not self.is_leading:
            raise ApiError(FORBIDDEN, NOT_LEADING, "this scheduler is not in charge, or not any more")

    async def observe(self) -> None:
        """See whether any process leads. To be called before the cluster is read, and not while leading.

        No lease counts as free. If it was deleted under a leader, that one goes on until its next renewal,
        also after another has taken its place. To catch up would not help against what it writes then.
        Such writes do no more harm than those of any other scheduler: the watch shows them, pods that are
        bound already are refused, and nodes with too many pods are reported.
        """
        self._observed, self.is_first_since_observed = None, False
        # If the lease cannot be read, assume it is held.
        with contextlib.suppress(ApiError, TimeoutError):
            async with asyncio.timeout(_OBSERVE_SECONDS):
                lease = await self._get() or {}
            self._observed = None if (lease.get("spec") or {}).get("holderIdentity") else lease

    async def acquire(self) -> None:
        """Return when in charge."""
        told = ""
        while not await self._try(self._patience):
            if self.holder != told:
                told = self.holder
                log.info("standing by: %s holds lease %s/%s", told, self._terms.namespace, self._terms.name)
            await asyncio.sleep(self._terms.retry_period * random.uniform(1.0, _JITTER))  # noqa: S311
        log.info("leading: holding lease %s/%s", self._terms.namespace, self._terms.name)

    async def keep(self) -> None:
        """Renew the lease; return when it is lost."""
        while self.is_leading:
            await asyncio.sleep(min(self._terms.retry_period, self._time_left()))
            patience = min(self._patience, self._time_left())
            if not await self._try(patience) and self.holder != self.identity:
                break
        self._held_until = float("-inf")
        log.warning("not leading any more: lease %s/%s is lost", self._terms.namespace, self._terms.name)

    async def release(self) -> None:
        """Let another one lead at once."""
        if not self.is_leading:
            return
        self._held_until = float("-inf")
        now = format_micro_timestamp(time.time())
        spec = self._spec | {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now}
        try:
            async with asyncio.timeout(self._terms.retry_period):
                lease = await self._get()
                if lease is not None and lease["spec"].get("holderIdentity") == self.identity:
                    await self._put(lease, spec)
        except (ApiError, TimeoutError) as error:
            log.warning("the lease could not be released, others will wait for it to end: %s", error)

    @property
    def _patience(self) -> float:
        return self._terms.renew_deadline / _TRIES

    def _time_left(self) -> float:
        return max(0.0, self._held_until - self._clock())

    async def _try(self, seconds: float) -> bool:
        started = self._clock()
        try:
            async with asyncio.timeout(seconds):
                is_ours = await self._take()
        except (ApiError, TimeoutError) as error:
            why = error if isinstance(error, ApiError) else "no answer in time"
            log.warning("asking for lease %s/%s failed: %s", self._terms.namespace, self._terms.name, why)
            return False
        if is_ours:
            self._held_until = started + self._terms.renew_deadline
        return is_ours

    async def _take(self) -> bool:
        """Create, renew or take over the lease, if that is allowed."""
        lease = await self._get()
        spec = (lease or {}).get("spec") or {}
        if spec != self._spec:
            self._spec, self._since = spec, self._clock()
        self.holder = str(spec.get("holderIdentity") or "")
        if self.holder not in {"", self.identity} and self._clock() < self._since + _lasts(spec, self._terms):
            return False
        is_renewed = self.holder == self.identity
        await self._put(lease, self._claim(spec))
        if not is_renewed:
            self.is_first_since_observed = self._observed is not None and (lease or {}) == self._observed
        self.holder = self.identity
        return True

    def _claim(self, spec: Json) -> Json:
        now = format_micro_timestamp(time.time())
        claim: Json = {
            "holderIdentity": self.identity,
            # Whole seconds, and never fewer than it is held for.
            "leaseDurationSeconds": math.ceil(self._terms.duration),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": int(spec.get("leaseTransitions") or 0),
        }
        if spec.get("holderIdentity") == self.identity:
            claim["acquireTime"] = spec.get("acquireTime") or now
        elif spec:
            claim["leaseTransitions"] += 1
        return claim

    async def _get(self) -> Json | None:
        try:
            return await self._transport.get(LEASE, self._terms.namespace, self._terms.name)
        except ApiError as error:
            if error.code != NOT_FOUND:
                raise
        return None

    async def _put(self, lease: Json | None, spec: Json) -> None:
        """ApiError if another candidate was faster."""
        place = self._terms.namespace, self._terms.name
        if lease is None:
            metadata = {
                "name": self._terms.name,
                "namespace": self._terms.namespace,
                "annotations": self._annotations,
            }
            written = await self._transport.create(
                LEASE, self._terms.namespace, {"metadata": metadata, "spec": spec}
            )
        else:
            told = (lease["metadata"].get("annotations") or {}) | self._annotations
            metadata = lease["metadata"] | {"annotations": told}
            written = await self._transport.update(
                LEASE, *place, lease | {"metadata": metadata, "spec": spec}
            )
        self._spec, self._since = written.get("spec") or {}, self._clock()


def _lasts(spec: Json, terms: LeaseTerms) -> float:
    """The holder may have other terms than we do."""
    return max(terms.duration, float(spec.get("leaseDurationSeconds") or 0))
