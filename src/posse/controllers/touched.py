"""The subjects that something has happened to since a plan was last made for them, in the order in which it happened."""

from itertools import islice


class Touched:
    def __init__(self) -> None:
        self._uids: dict[str, None] = {}

    def add(self, uid: str) -> None:
        self._uids[uid] = None

    def take(self, limit: int) -> list[str]:
        """Return up to `limit` of them, those touched first before the others."""
        uids = list(islice(self._uids, limit))
        for uid in uids:
            del self._uids[uid]
        return uids
