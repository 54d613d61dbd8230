"""A cluster as a recording shows it at a moment, in the form of a snapshot."""

from pathlib import Path

import msgspec

from posse.cli.problems import Problem
from posse.cli.reading.snapshot_file import Header, Listed, SnapshotSource, new_header
from posse.recording.replay import objects_at
from posse.recording.segments import RecordingError, RecordingHeader
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS


def recorded_objects(
    folder: Path, until: float | None, header: RecordingHeader
) -> tuple[Header, list[Listed]]:
    """What the cluster held at that time, or at the end. RecordingError: the recording cannot be read."""
    kinds = {struct: kind for kind, struct in reversed(FOLLOWED_KINDS)}
    now, objects = objects_at(folder, until)
    listed = []
    for obj in objects:
        kind = kinds[type(obj)]
        version = kind.api_version_of(kind.versions[0])
        body = msgspec.to_builtins(obj) | {"apiVersion": version, "kind": kind.name}
        listed.append(Listed(kind.group_resource, body))
    served = [kind for kind, _ in FOLLOWED_KINDS]
    return new_header("default", now, served, [header.settings]), listed


def recorded_source(folder: Path, until: float | None, header: RecordingHeader) -> SnapshotSource:
    """Problem: the recording cannot be read."""
    try:
        found, listed = recorded_objects(folder, until, header)
    except RecordingError as error:
        raise Problem(str(error)) from error
    objects: dict[str, list[dict[str, object]]] = {}
    for one in listed:
        objects.setdefault(one.resource, []).append(one.obj)
    return SnapshotSource(found, objects)
