"""What all answers of the page are made from: the cluster at one moment, read into an engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from posse.cli.problems import Problem
from posse.cli.reading.cluster_reader import Survey, survey_of
from posse.cli.reading.owners import Owners
from posse.cli.reading.snapshot_file import SnapshotSource
from posse.cli.ui.document import document_of, group_id
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.kinds.registry import EVENT

Json = dict[str, Any]


@dataclass
class PageState:
    source: SnapshotSource
    options: EngineOptions
    survey: Survey = field(init=False)
    owners: Owners = field(init=False)

    def __post_init__(self) -> None:
        self.survey = survey_of(self.source, self.options, lambda _: None)
        self.owners = Owners(self.survey, self.source, None)

    def document(self) -> Json:
        return document_of(self.survey, self.owners, self.source.now())

    @cached_property
    def _keys(self) -> dict[str, GroupKey]:
        return {group_id(key): key for key in self.survey.group_keys()}

    def key_of(self, name: str) -> GroupKey:
        """Problem: there is no such group."""
        if name not in self._keys:
            raise Problem(f"there is no group {name} any more")
        return self._keys[name]

    def gang(self, key: GroupKey, events: list[Json]) -> Json:
        # The exact search takes a while to load, and the map does not need it.
        from posse.cli.explain.run import Asked  # noqa: PLC0415
        from posse.cli.ui.gang_answer import gang_answer  # noqa: PLC0415

        source = self.source.with_objects(EVENT, events) if events else self.source
        return gang_answer(Asked(source, self.survey, self.owners, source.now()), key)

    def plan(self, arguments: Mapping[str, str]) -> Json:
        from posse.cli.ui.plan_answer import plan_answer  # noqa: PLC0415 - as above

        return plan_answer(self.source, self.options, arguments)
