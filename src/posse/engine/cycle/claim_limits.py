"""A claim is reserved for a limited number of pods and groups: bindings beyond that are taken back."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from posse.engine.decisions import Bind, Placement
from posse.engine.devices.claims import MAX_CONSUMERS, ClaimBook
from posse.engine.keys import ClaimKey

Consumers = Callable[[Placement], Sequence[tuple[ClaimKey, str]]]
"""The claims of a placed pod, with the uid that each is reserved for."""


class ClaimLimits:
    """The reservations of one round, beside those that claims have."""

    def __init__(self, book: ClaimBook, consumers: Consumers) -> None:
        self._book = book
        self._consumers = consumers
        self._reserved: dict[ClaimKey, dict[str, None]] = {}

    def kept(self, bind: Bind) -> tuple[Bind | None, dict[Placement, ClaimKey]]:
        """The binding, without pods for which a claim has no reservation left, and these with the claim.

        Pods of a group are bound together or not at all.
        """
        if not self._may_exceed(bind):
            return bind, {}
        beyond = {one: key for one in bind.placements if (key := self._reserve(one)) is not None}
        if bind.group is not None and beyond:
            first = next(iter(beyond.values()))
            return None, dict.fromkeys(bind.placements, first)
        within = tuple(one for one in bind.placements if one not in beyond)
        return (replace(bind, placements=within) if within else None), beyond

    def _may_exceed(self, bind: Bind) -> bool:
        keys = dict.fromkeys(key for one in bind.placements for key, _ in self._consumers(one))
        return any(len(self._of(key)) + len(bind.placements) > MAX_CONSUMERS for key in keys)

    def _reserve(self, placed: Placement) -> ClaimKey | None:
        """A claim without a reservation left for the pod; None if the pod got all its reservations."""
        wanted = self._consumers(placed)
        for key, uid in wanted:
            if uid not in self._of(key) and len(self._of(key)) >= MAX_CONSUMERS:
                return key
        for key, uid in wanted:
            self._of(key)[uid] = None
        return None

    def _of(self, key: ClaimKey) -> dict[str, None]:
        known = self._reserved.get(key)
        if known is None:
            known = self._reserved[key] = dict.fromkeys(self._uids(key))
        return known

    def _uids(self, key: ClaimKey) -> Iterator[str]:
        record = self._book.claims.get(key)
        if record is not None and not self._book.is_released(record):
            yield from (one.uid for one in record.consumers)
