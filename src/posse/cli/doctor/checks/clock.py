"""Whether our clock and that of the API server agree."""

from collections.abc import Iterator

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, warning

MAX_OFFSET_SECONDS = 5.0
"""The header Date has full seconds, and an answer takes a moment."""


def check_clock(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    offset = facts.clock_offset or 0.0
    if abs(offset) > MAX_OFFSET_SECONDS:
        direction = "ahead of" if offset > 0 else "behind"
        yield warning(
            f"the clock of the API server is {abs(offset):.0f} seconds {direction} this machine's",
            "synchronise both (NTP): ages, starting times and waiting times are wrong until then",
        )
