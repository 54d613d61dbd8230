"""Sources of a cluster's objects for the verbs that read."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from posse.cli.client import ApiClient, Refused
from posse.cli.problems import Problem, Unreachable
from posse.client.paths import path_of
from posse.configuration.running import LeaseTerms
from posse.kinds.machinery.conversion import to_storage
from posse.kinds.machinery.errors import EXPIRED
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import LEASE
from posse.runtime.process.settings import SETTINGS_PATH, is_settings, settings_on

Json = dict[str, Any]

PAGE = 500


class ClusterSource(Protocol):
    @property
    def default_namespace(self) -> str: ...

    def now(self) -> float:
        """The time at which the objects are as they are."""
        ...

    def settings(self) -> list[Json]:
        """The rules that running schedulers publish; none if they cannot be read."""
        ...

    def serves(self, kind: Kind) -> bool: ...

    def objects(self, kind: Kind, namespace: str | None, tell: Callable[[str], None]) -> Iterator[Json]:
        """All objects of a kind in stored form; in all namespaces if None. `tell` shows the progress."""
        ...


@dataclass(frozen=True, slots=True)
class DerivedSource:
    """Another source, of which subclasses change some objects."""

    source: ClusterSource

    @property
    def default_namespace(self) -> str:
        return self.source.default_namespace

    def now(self) -> float:
        return self.source.now()

    def settings(self) -> list[Json]:
        return self.source.settings()

    def serves(self, kind: Kind) -> bool:
        return self.source.serves(kind)


class ApiSource:
    """A running cluster. Kinds that it does not serve have no objects."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    @property
    def default_namespace(self) -> str:
        return self._client.default_namespace

    def now(self) -> float:
        return time.time()

    def settings(self) -> list[Json]:
        """An embedded cluster has a page for them, and `posse run` writes them on its lease.

        Unreachable: there is no answer to anything.
        """
        return [found for found in (self._page(), self._on_lease()) if is_settings(found)]

    def _page(self) -> object:
        try:
            return self._client.get(SETTINGS_PATH)
        except Unreachable:
            raise
        except Problem:
            return None  # There is none, or not for this user.

    def _on_lease(self) -> object:
        terms = LeaseTerms()
        try:
            return settings_on(
                self._client.get(path_of(LEASE, LEASE.versions[0], terms.namespace, terms.name))
            )
        except Unreachable:
            raise
        except Problem:
            return None

    def serves(self, kind: Kind) -> bool:
        return self._client.served.version_of(kind) is not None

    def objects(self, kind: Kind, namespace: str | None, tell: Callable[[str], None]) -> Iterator[Json]:
        """In whichever version the kind is served."""
        version = self._client.served.version_of(kind)
        if version is None:
            return
        for number, item in enumerate(self._pages(path_of(kind, version, namespace))):
            if number % PAGE == 0:
                tell(f"Reading {kind.plural}: {number:,}")
            # Items of a list do not say what they are.
            yield to_storage(kind, item | {"apiVersion": kind.api_version_of(version), "kind": kind.name})

    def _pages(self, path: str) -> Iterator[Json]:
        """Read page by page. If the continue token expires, list everything again in one page."""
        token = ""
        while True:
            try:
                answer = self._client.get(f"{path}?limit={PAGE}&continue={quote(token, safe='')}")
            except Refused as refusal:
                if refusal.code != EXPIRED:
                    raise
                yield from self._client.get(path).get("items") or []
                return
            yield from answer.get("items") or []
            token = answer["metadata"].get("continue", "")
            if not token:
                return
