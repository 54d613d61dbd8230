"""What a rule is compiled for and what it may read: a scheduling class, and the rule context."""

from dataclasses import dataclass, field

import msgspec

from posse.engine.devices.devices import Devices
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.row_states import RowStates
from posse.engine.nodes.search_scope import SearchScope
from posse.engine.pods.census import Census, Trait
from posse.engine.pods.pod_class import PodClass
from posse.engine.pods.selectors import PodQuery
from posse.engine.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class RuleContext:
    nodes: NodeTable
    census: Census
    storage: Storage
    devices: Devices
    states: RowStates
    scope: SearchScope = field(default_factory=SearchScope)


class SchedulingClass(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """Pods that every rule treats equally: of one class, and with labels that others see equally."""

    pod_class: PodClass
    matched_by: tuple[Trait, ...] = ()
    """Traits of other pods whose selectors match these pods."""
    matches_own: tuple[PodQuery, ...] = ()
    """Queries of the class's own terms that these pods match themselves."""
