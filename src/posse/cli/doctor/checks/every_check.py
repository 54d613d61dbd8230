"""All checks, in the order of the report, and the facts without which each is left out."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from posse.cli.doctor.checks.admission import check_admission
from posse.cli.doctor.checks.clock import check_clock
from posse.cli.doctor.checks.devices import check_devices
from posse.cli.doctor.checks.disruption import check_disruption
from posse.cli.doctor.checks.gang_sizes import check_gang_sizes
from posse.cli.doctor.checks.group_apis import check_group_apis
from posse.cli.doctor.checks.priorities import check_priorities
from posse.cli.doctor.checks.rights import check_rights
from posse.cli.doctor.checks.schedulers import check_leases, check_other_schedulers, check_scheduler_names
from posse.cli.doctor.checks.topology import check_topology
from posse.cli.doctor.checks.version import check_gates, check_version
from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding


class Check(NamedTuple):
    name: str
    find: Callable[[ClusterFacts], Iterable[DoctorFinding]]
    needs: str = ""
    """The fact without which it says nothing; empty if it needs only the objects of the cluster."""


CHECKS = (
    Check("version", check_version, "version"),
    Check("gates", check_gates, "cluster_gates"),
    Check("group-apis", check_group_apis, "apis"),
    Check("rights", check_rights, "denied"),
    Check("leases", check_leases, "leases"),
    Check("schedulers", check_other_schedulers, "deployments"),
    Check("scheduler-names", check_scheduler_names),
    Check("admission", check_admission, "admission"),
    Check("clock", check_clock, "clock_offset"),
    Check("topology", check_topology),
    Check("gang-sizes", check_gang_sizes),
    Check("devices", check_devices),
    Check("priorities", check_priorities),
    Check("disruption", check_disruption),
)


class Diagnosis(NamedTuple):
    """`skipped` says why, by the name of the check."""

    findings: tuple[tuple[str, DoctorFinding], ...]
    passed: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


def diagnose(facts: ClusterFacts) -> Diagnosis:
    findings, passed, skipped = [], [], []
    for check in CHECKS:
        if check.needs and getattr(facts, check.needs) is None:
            skipped.append((check.name, facts.unread.get(check.needs, "not read")))
            continue
        found = [(check.name, finding) for finding in check.find(facts)]
        findings += found
        if not found:
            passed.append(check.name)
    return Diagnosis(tuple(findings), tuple(passed), tuple(skipped))
