"""How far a puzzle is gone into: equal nodes together first, and each by itself only where that can be done in time."""

from posse.engine.placement_problem import GroupDemand, PlacementProblem, PodSet
from posse.engine.proof import Outcome
from posse.solver import solving

# What two nodes have together is enough, but it cannot be shared out.
SPLIT = PlacementProblem(
    ((5, 5),), (PodSet((3,), (1, 1)), PodSet((4,), (1, 1))), GroupDemand(3, ((0, 2), (1, 1)))
)


def test_what_fits_on_equal_nodes_together_may_fit_on_none_of_them():
    assert solving.solve(SPLIT, effort=5.0).outcome is Outcome.IMPOSSIBLE


def test_a_puzzle_too_large_to_go_through_node_by_node_stays_open(monkeypatch):
    monkeypatch.setattr(solving, "_MAX_VARIABLES", 3)
    assert solving.solve(SPLIT, effort=5.0).outcome is Outcome.EXHAUSTED
    easy = PlacementProblem(((5, 5),), (PodSet((3,), (1, 1)),), GroupDemand(2, ((0, 2),)))
    assert solving.solve(easy, effort=5.0).outcome is Outcome.PLACED
