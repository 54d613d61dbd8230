"""Counts that may be written as a part of a whole: `2` or `"25%"`."""

from posse.model.meta import IntOrString


def part_of(share: IntOrString, whole: int, *, rounded_up: bool) -> int:
    """Return how many that is. What is no share at all, which validation refuses, counts as none."""
    if isinstance(share, int):
        return share
    digits = share.removesuffix("%")
    if not (digits.isascii() and digits.isdigit()):
        return 0
    hundredths = whole * int(digits)
    return -(-hundredths // 100) if rounded_up else hundredths // 100
