"""Drawn run-time limits: no run is longer, and equal seeds draw equal limits."""

from posse.simulation.jobs import TracedJob, objects_of
from posse.simulation.limits import with_limits


def jobs(count=50):
    return [TracedJob(f"j{number}", 0.0, 37.0 * 2**number % 9e6 + 1, 1, 1) for number in range(count)]


def test_limits_are_drawn_above_the_run():
    limited = with_limits(jobs(), seed=3)
    assert all(job.limit >= job.duration for job in limited)
    assert limited == with_limits(jobs(), seed=3)
    assert limited != with_limits(jobs(), seed=4)


def test_pods_say_their_limit():
    _, (pod,) = objects_of(with_limits(jobs(1), seed=1)[0], 0)
    assert pod.spec.active_deadline_seconds >= 37
