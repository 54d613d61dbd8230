"""Rights that the scheduler needs and does not have."""

from collections import defaultdict
from collections.abc import Iterator

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, error, note


def check_rights(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    """One finding per resource, with all verbs."""
    verbs: dict[tuple[str, str], list[str]] = defaultdict(list)
    reasons: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for right in facts.denied or ():
        denied = right.resource, right.api_group
        verbs[denied].append(right.verb)
        reasons[denied][right.reason] = None
    of_volumes = {(right.resource, right.api_group) for right in facts.denied or () if right.is_of_volumes}
    for (resource, group), lacking in verbs.items():
        where = f"{resource}.{group}" if group else resource
        purpose = "; ".join(reasons[resource, group])
        message = f"{facts.account} may not {', '.join(lacking)} {where} (needed to {purpose})"
        advice = "renew its roles: posse install | kubectl apply -f -"
        if (resource, group) in of_volumes:
            yield note(message, f"{advice}; installed --without-volumes, this is as it should be")
        else:
            yield error(message, advice)
