"""What `posse up` says of options that have no effect, because it continues a cluster."""

from collections.abc import Iterator

from posse.runtime.embedded.bootstrap import EnsuredNodes
from posse.runtime.process.options import ClusterOptions


def continuation_notice(options: ClusterOptions, nodes: EnsuredNodes) -> str:
    """Empty if every option has its effect."""
    unused = [*_unused_count(options, nodes), *_unused_topology(options, nodes)]
    if not unused:
        return ""
    lines = [
        f"Notice: this continues the cluster in {options.data_dir}, whose nodes stay as they are.",
        *(f"  {one}" for one in unused),
        "  For a new cluster, stop this one and delete that folder, or start with another --data-dir.",
    ]
    return "\n".join(lines)


def _unused_count(options: ClusterOptions, nodes: EnsuredNodes) -> Iterator[str]:
    wanted = options.node_count
    if wanted is not None and wanted < nodes.before:
        yield f"--nodes {wanted} has no effect: it has {nodes.before}, and nodes are only added."


def _unused_topology(options: ClusterOptions, nodes: EnsuredNodes) -> Iterator[str]:
    if not nodes.differing:
        return
    levels = ",".join(f"{level.name}={level.count}" for level in options.topology)
    kept = f"{nodes.differing} of its {nodes.before} nodes have other labels, and keep them"
    if nodes.added:
        yield f"--topology {levels} is for the {nodes.added} new nodes only: {kept}."
    else:
        yield f"--topology {levels} has no effect: {kept}."
