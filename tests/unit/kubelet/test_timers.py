import random

from posse.kubelet.timers import Timers


def test_due_keys_come_earliest_first():
    timers = Timers()
    timers.set("late", 3.0)
    timers.set("early", 1.0)
    timers.set("future", 9.0)
    assert timers.pop_due(5.0, 10) == ["early", "late"]
    assert timers.next_time() == 9.0


def test_equal_times_come_in_the_order_they_were_set():
    timers = Timers()
    for key in ("c", "a", "b"):
        timers.set(key, 1.0)
    assert timers.pop_due(1.0, 10) == ["c", "a", "b"]


def test_setting_again_replaces_the_earlier_time():
    timers = Timers()
    timers.set("a", 1.0)
    timers.set("a", 7.0)
    assert timers.pop_due(5.0, 10) == []
    assert timers.next_time() == 7.0
    timers.set("a", 2.0)
    assert timers.pop_due(5.0, 10) == ["a"]
    assert timers.next_time() is None


def test_a_cancelled_timer_never_fires():
    timers = Timers()
    timers.set("a", 1.0)
    timers.cancel("a")
    timers.cancel("unknown")
    assert timers.next_time() is None
    assert timers.pop_due(5.0, 10) == []


def test_the_limit_leaves_the_rest_for_later():
    timers = Timers()
    for number in range(5):
        timers.set(number, float(number))
    assert timers.pop_due(9.0, 2) == [0, 1]
    assert timers.pop_due(9.0, 9) == [2, 3, 4]


def test_timers_set_over_and_over_do_not_pile_up():
    timers = Timers()
    for round_number in range(10_000):
        timers.set(round_number % 3, float(round_number))
    assert len(timers._entries) < 200
    assert len(timers) == 3


def test_agrees_with_a_plain_dictionary_of_times():
    dice = random.Random(7)
    timers, twin = Timers(), {}
    for now in range(3000):
        key = dice.randrange(40)
        if dice.random() < 0.2:
            timers.cancel(key)
            twin.pop(key, None)
        else:
            twin[key] = now + dice.uniform(0, 30)
            timers.set(key, twin[key])
        due = timers.pop_due(now, 1000)
        assert sorted(due) == sorted(key for key, at in twin.items() if at <= now)
        twin = {key: at for key, at in twin.items() if at > now}
        assert timers.next_time() == (min(twin.values()) if twin else None)
