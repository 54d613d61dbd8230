"""Shares of a whole, rounded either way."""

import pytest

from posse.model.shares import part_of


@pytest.mark.parametrize(
    ("share", "up", "down"),
    [(3, 3, 3), ("25%", 3, 2), ("0%", 0, 0), ("100%", 10, 10), ("1%", 1, 0), ("many", 0, 0), ("-5%", 0, 0)],
)
def test_shares(share, up, down):
    assert part_of(share, 10, rounded_up=True) == up
    assert part_of(share, 10, rounded_up=False) == down
