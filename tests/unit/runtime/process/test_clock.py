"""Clocks that are never set back."""

from posse.runtime.process.clock import forward_clock

HOUR = 3600.0


class Machine:
    """Its clock can be set; what passes is counted apart from that."""

    def __init__(self):
        self.wall, self.passed = 1_800_000_000.0, 50.0

    def wait(self, seconds):
        self.wall += seconds
        self.passed += seconds


def clock_of(machine):
    return forward_clock(lambda: machine.wall, lambda: machine.passed)


def test_it_shows_the_time_of_day():
    machine = Machine()
    clock = clock_of(machine)
    machine.wait(10)
    assert clock() == machine.wall


def test_a_clock_that_is_set_back_does_not_stop_it():
    machine = Machine()
    clock = clock_of(machine)
    began = clock()
    machine.wall -= HOUR
    machine.wait(10)
    assert clock() == began + 10
    machine.wait(5)
    assert clock() == began + 15


def test_when_the_clock_is_right_again_both_agree():
    machine = Machine()
    clock = clock_of(machine)
    machine.wall -= HOUR
    machine.wait(10)
    clock()
    machine.wall += HOUR
    assert clock() == machine.wall


def test_it_follows_the_clock_forward_as_after_a_sleep_of_the_machine():
    machine = Machine()
    clock = clock_of(machine)
    machine.wall += HOUR
    assert clock() == machine.wall
