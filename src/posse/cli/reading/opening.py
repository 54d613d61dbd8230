"""Opens what a reading verb reads: a running cluster, or a snapshot."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from posse.cli.problems import Misuse
from posse.cli.reading.snapshot_file import read_snapshot
from posse.cli.reading.sources import ApiSource, ClusterSource
from posse.cli.session import connected


@contextmanager
def opened(kubeconfig: Path | None, snapshot: Path | None) -> Iterator[ClusterSource]:
    if snapshot is None:
        with connected(kubeconfig) as client:
            yield ApiSource(client)
        return
    if kubeconfig is not None:
        raise Misuse("--kubeconfig and --snapshot exclude each other")
    yield read_snapshot(snapshot.expanduser())
