"""Runs `posse snapshot`: reads every kind that a rule or a controller reads, and writes the file."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import typer
from rich.console import Console

from posse.cli.reading.owners import CONTROLLERS, readable
from posse.cli.reading.snapshot_file import Listed, new_header, write_snapshot
from posse.cli.reading.sources import ClusterSource
from posse.cli.snapshot.anonymising import Anonymiser
from posse.cli.snapshot.pruning import pruned
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import PRIORITY_CLASS, RESOURCE_QUOTA
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS

SNAPSHOT_KINDS: tuple[Kind, ...] = tuple(
    dict.fromkeys((PRIORITY_CLASS, RESOURCE_QUOTA, *(kind for kind, _ in FOLLOWED_KINDS), *CONTROLLERS))
)


def take_snapshot(source: ClusterSource, path: Path, *, is_anonymous: bool) -> None:
    kinds = [kind for kind in SNAPSHOT_KINDS if source.serves(kind)]
    anonymiser = Anonymiser() if is_anonymous else None
    with Console(stderr=True).status("Reading the cluster"):
        objects = list(_objects(source, kinds, anonymiser))
    own = source.default_namespace
    namespace = own if anonymiser is None else anonymiser.namespace(own)
    header = new_header(namespace, source.now(), kinds, source.settings())
    write_snapshot(path, msgspec.structs.replace(header, is_anonymised=is_anonymous), objects)
    typer.echo(f"{len(objects)} objects of {len(kinds)} kinds in {path} ({path.stat().st_size:,} bytes)")


def _objects(source: ClusterSource, kinds: Iterable[Kind], anonymiser: Anonymiser | None) -> Iterable[Listed]:
    for kind in kinds:
        for obj in readable(source, kind, None):
            kept = pruned(obj)
            if anonymiser is not None:
                kept = anonymiser.object(kept, kind.name)
            yield Listed(kind.group_resource, kept)
