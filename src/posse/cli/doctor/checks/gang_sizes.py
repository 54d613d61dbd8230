"""Waiting groups that the nodes could not hold even if nothing else ran there."""

from collections.abc import Iterator

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error
from posse.engine.explain.capacity_limits import NeverFits
from posse.engine.reporting.remedy_messages import too_large_text
from posse.writes.group_status import object_kind


def check_gang_sizes(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    for now in facts.survey.situations():
        if now.out_of_reach is None or now.counts.waiting == 0:
            continue
        name = f"{now.key.namespace}/{now.key.name}"
        kind = object_kind(now.key).name.lower()
        yield error(
            f"group {name} {_fault(now.out_of_reach)}",
            f"posse explain {kind}/{now.key.name} -n {now.key.namespace} names the smallest changes "
            "that would let it start",
        )


def _fault(reach: NeverFits) -> str:
    if reach.too_large is not None:
        return f"cannot start: {too_large_text(reach.too_large)}"
    domain, closed = reach.domain, reach.closed
    place = f"any {domain}" if domain else "the nodes it may use" if closed else "the whole cluster"
    reasons = "; ".join(f"{one.nodes} nodes: {one.reason}" for one in closed)
    return f"is larger than {place}, empty or not" + (f" ({reasons})" if reasons else "")
