"""What `posse doctor` reads of a cluster. Checks see nothing else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from posse.cli.reading.cluster_reader import Survey
from posse.kinds.machinery.kind import Kind
from posse.model.decoding import decode
from posse.model.feature_gates import Gates
from posse.model.meta import Shape

Json = dict[str, Any]
S = TypeVar("S", bound=Shape)


class ServedApi(NamedTuple):
    """An API group that describes groups of pods."""

    group: str
    versions: tuple[str, ...]
    server: str
    """What serves it, as in "kube-apiserver" or "a custom resource"."""
    is_available: bool = True


class DeniedRight(NamedTuple):
    verb: str
    resource: str
    api_group: str
    reason: str
    """What the right is for."""
    is_of_volumes: bool = False
    """Posse may be installed without rights for volumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """None stands for facts that could not be read; `unread` says why, by the name of the fact."""

    survey: Survey
    now: float
    scheduler_names: tuple[str, ...]
    """schedulerNames of pods that Posse schedules."""
    gates: Gates
    """Feature gates of Posse."""
    version: str | None = None
    """Of Kubernetes, as in v1.37.1."""
    apis: tuple[ServedApi, ...] | None = None
    cluster_gates: Mapping[str, bool] | None = None
    """Feature gates of the API server."""
    account: str = ""
    """Whose rights were asked for."""
    denied: tuple[DeniedRight, ...] | None = None
    clock_offset: float | None = None
    """Seconds by which the clock of the API server is ahead of ours."""
    leases: tuple[Json, ...] | None = None
    """Of the system namespace."""
    deployments: tuple[Json, ...] | None = None
    admission: tuple[Json, ...] | None = None
    """Webhook configurations and policies of admission."""
    unread: Mapping[str, str] = field(default_factory=dict)

    def all_of(self, kind: Kind, struct: type[S]) -> Iterator[S]:
        """All objects of a kind, without pods."""
        return (decode(struct, obj) for obj in self.survey.of_kind(kind))
