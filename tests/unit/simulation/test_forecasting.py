"""Forecasts in virtual time, held against what happens."""

from posse.simulation.clusters import equal_nodes
from posse.simulation.forecasting import SimulatedForecasts
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import named_policies
from posse.simulation.virtual_cluster import VirtualCluster
from tests.support.effort import PROFILE


def tally_of(jobs, policy="backfill", begin=0.0):
    forecasts = SimulatedForecasts(begin, pause=1.0)
    VirtualCluster(equal_nodes(1, 8), jobs, named_policies()[policy], forecasts=forecasts).run()
    return forecasts.book.tally


def queue_of(count, limit):
    """Jobs that each need the whole node, and run for 1,000 seconds."""
    return [TracedJob(f"job{number}", float(number), 1000.0, 1, 8, limit=limit) for number in range(count)]


def test_starts_are_counted_against_the_first_forecast():
    jobs = queue_of(10 if PROFILE == "quick" else 20, limit=1200.0)
    tally = tally_of(jobs)
    assert tally.given + tally.unforeseen == len(jobs) - 1
    assert tally.inside > tally.early + tally.late
    assert tally.before_bound == 0


def test_nothing_is_foreseen_before_anything_is_known():
    tally = tally_of(queue_of(3, limit=0.0))
    assert (tally.given, tally.unforeseen) == (0, 2)


def test_forecasts_of_the_warm_up_are_not_counted():
    jobs = [*queue_of(3, limit=1200.0), TracedJob("late", 90_000.0, 1000.0, 1, 8, limit=1200.0)]
    assert tally_of(jobs, begin=86_400.0).given == 0


def test_equal_runs_give_equal_tallies():
    assert tally_of(queue_of(8, limit=1200.0)) == tally_of(queue_of(8, limit=1200.0))
