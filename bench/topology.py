"""Gangs that must stay in one domain, the engine alone: 5,000 nodes in 50 racks, all alike."""

from bench.engine_speed import pods_per_second, schedule
from bench.inputs import HOSTNAME, RACK, ZONE, gangs, nodes
from bench.measuring import Figure, median_run

_NODES = 5000


def measure() -> list[Figure]:
    return [_small_gangs(), _small_gangs_on_one_node(), _large_gangs(), _huge_cluster(), *_proofs()]


def _small_gangs() -> Figure:
    cluster, (groups, members) = nodes(_NODES), gangs(750, 4, topology=RACK)
    return pods_per_second(
        "750 gangs of 4, each in one rack",
        median_run(lambda: schedule(cluster, groups, members)),
        len(members),
        "23 pods/s, 171 ms per gang",
    )


def _small_gangs_on_one_node() -> Figure:
    """As many domains as there are nodes."""
    cluster, (groups, members) = nodes(_NODES), gangs(750, 4, topology=HOSTNAME)
    return pods_per_second(
        "750 gangs of 4, each on one node",
        median_run(lambda: schedule(cluster, groups, members)),
        len(members),
    )


def _large_gangs() -> Figure:
    cluster, (groups, members) = nodes(_NODES), gangs(9, 1000, topology=RACK)
    watch = median_run(lambda: schedule(cluster, groups, members))
    return Figure(
        "9 gangs of 1,000, each in one rack",
        watch.total / len(groups) * 1e3,
        "ms/gang",
        f"us per pod: {watch.shares(len(members))}",
        "42 pods/s",
    )


def _huge_cluster() -> Figure:
    cluster, (groups, members) = nodes(100_000), gangs(300, 4, topology=RACK)
    watch = median_run(lambda: schedule(cluster, groups, members))
    detail = f"us per pod: {watch.shares(len(members))}"
    return Figure("gangs of 4 in one rack, 100,000 nodes", watch.total / len(groups) * 1e3, "ms/gang", detail)


def _proofs() -> list[Figure]:
    """A gang of which every pod takes a node, and the largest domain lacks twelve."""
    groups, members = gangs(1, 512, cpu="31", topology=ZONE)
    cluster = nodes(500, zones=1)
    whole = median_run(lambda: schedule(cluster, groups, members, placed=0))
    groups_in_racks, members_in_racks = gangs(1, 512, cpu="31", topology=RACK)
    racks = median_run(lambda: schedule(cluster, groups_in_racks, members_in_racks, placed=0))
    return [
        Figure("proof that a gang of 512 fits in no zone of 500 nodes", whole.total * 1e3, "ms"),
        Figure("proof that it fits in none of 50 racks", racks.total * 1e3, "ms"),
    ]
