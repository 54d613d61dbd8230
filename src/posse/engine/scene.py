"""What a rule is compiled for and what it may look at: a subject, and the scene it would enter."""

from dataclasses import dataclass, field

from posse.engine.census import Census, Trait
from posse.engine.confines import Confines
from posse.engine.node_table import NodeTable
from posse.engine.pod_class import PodClass
from posse.engine.pod_query import PodQuery
from posse.engine.volumes.storage import Storage


@dataclass(frozen=True, slots=True)
class Scene:
    nodes: NodeTable
    census: Census
    storage: Storage
    confines: Confines = field(default_factory=Confines)


@dataclass(frozen=True, slots=True)
class Subject:
    """Pods that every rule treats alike: of one class, and alike in how others see their labels."""

    pod_class: PodClass
    concerned_by: tuple[Trait, ...] = ()
    """Traits of other pods whose selectors match these pods."""
    matches_own: tuple[PodQuery, ...] = ()
    """Queries of the class's own terms that these pods match themselves."""
