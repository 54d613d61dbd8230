"""What a pod asks of storage: claims by name, and disks that it mounts directly. What is behind them is not known here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from posse.engine.keys import ClaimKey, PodRef
from posse.model.pod import Pod
from posse.model.volume import Volume

_RBD = "RBD"


@dataclass(frozen=True, slots=True)
class ClaimUse:
    key: ClaimKey
    owner: PodRef | None = None
    """Set for a claim that is made for one pod and goes with it: the pod that must own it."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that pods on one node can share only if all of them just read it."""

    kind: str
    identity: tuple[str, ...]
    read_only: bool
    monitors: tuple[str, ...] = ()
    """Of RBD: the same image seen through different monitors is another disk."""

    def clashes(self, other: "Disk") -> bool:
        if (self.kind, self.identity) != (other.kind, other.identity) or (self.read_only and other.read_only):
            return False
        return self.kind != _RBD or any(monitor in other.monitors for monitor in self.monitors)


@dataclass(frozen=True, slots=True)
class VolumeNeeds:
    claims: tuple[ClaimUse, ...] = ()
    """In the order of the pod's volumes, each once."""
    disks: tuple[Disk, ...] = ()


def volume_needs(pod: Pod) -> VolumeNeeds | None:
    """None for a pod that no rule about storage has anything to say about."""
    if not pod.spec.volumes:
        return None
    claims = tuple(dict.fromkeys(_claims(pod)))
    disks = tuple(dict.fromkeys(disk for volume in pod.spec.volumes for disk in _disks(volume)))
    return VolumeNeeds(claims, disks) if claims or disks else None


def _claims(pod: Pod) -> Iterator[ClaimUse]:
    meta = pod.metadata
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield ClaimUse(ClaimKey(meta.namespace, volume.persistent_volume_claim.claim_name))
        elif volume.ephemeral is not None:
            name = f"{meta.name}-{volume.name}"
            yield ClaimUse(ClaimKey(meta.namespace, name), PodRef(meta.namespace, meta.name, meta.uid))


def _disks(volume: Volume) -> Iterator[Disk]:
    if source := _fields(volume.gce_persistent_disk):
        yield Disk("GCE", (_text(source, "pdName"),), bool(source.get("readOnly")))
    if source := _fields(volume.aws_elastic_block_store):
        # Two pods cannot share one even to read it.
        yield Disk("EBS", (_text(source, "volumeID"),), read_only=False)
    if source := _fields(volume.iscsi):
        yield Disk("ISCSI", (_text(source, "iqn"),), bool(source.get("readOnly")))
    if source := _fields(volume.rbd):
        identity = _text(source, "pool") or "rbd", _text(source, "image")
        monitors = tuple(sorted(str(monitor) for monitor in source.get("monitors") or ()))
        yield Disk(_RBD, identity, bool(source.get("readOnly")), monitors)


def _fields(source: Any) -> dict[str, Any]:
    return source if isinstance(source, dict) else {}


def _text(source: dict[str, Any], name: str) -> str:
    return str(source.get(name) or "")
