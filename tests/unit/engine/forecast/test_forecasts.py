"""Forecasts of an engine: bands, what decides them, where nothing is known, and what is learned from them."""

from dataclasses import replace

import msgspec
import pytest

from posse.engine.explain.queue_order import Ahead
from posse.engine.forecast.calibration import Calibration
from posse.engine.forecast.forecast import AwaitedEnd, Forecast, Unforeseen, forecasts_of
from posse.engine.forecast.forecast_book import ForecastBook
from posse.engine.forecast.forecast_note import note_text, read_forecast
from posse.engine.forecast.forecast_problem import ForecastProblem
from posse.engine.groups.annotations import EXPECTED_DURATION
from posse.engine.keys import GroupKey, PodRef
from posse.engine.options import EngineOptions
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.solver.rollouts import estimate_starts
from tests.support.builders import NAMESPACE, changed, gang, node, pod
from tests.support.engine_driver import Driver

SECOND = GroupKey(NAMESPACE, "second")


def lasting(name, text, minimum=2):
    return changed(gang(name, minimum=minimum), metadata={"annotations": {EXPECTED_DURATION: text}})


def members(name, number=2, cpu="1"):
    return [pod(f"{name}-{index}", cpu, group=name) for index in range(number)]


def asked(driver, now):
    builder = driver.engine.forecast_builder(now)
    for _ in builder.steps():
        pass
    return builder.question()


def forecasts(driver, now):
    question = asked(driver, now)
    return forecasts_of(question, estimate_starts(question.problem), Calibration(0.0, 0.0), now)


def busy(*more):
    """One node with two CPUs, both of which the first gang holds."""
    driver = Driver(node("n1", cpu="2"), lasting("first", "1h"), *members("first"))
    driver.decide()
    driver.see(*more)
    driver.decide()
    return driver


def test_a_gang_waits_for_the_end_of_the_one_that_runs():
    driver = busy(gang("second", minimum=2), *members("second"))
    now = driver.now + 600
    found = forecasts(driver, now)
    assert list(found) == [SECOND]
    assert found[SECOND].earliest == pytest.approx(now + 3000)
    assert found[SECOND].latest == pytest.approx(now + 3000)
    assert found[SECOND].not_before == now
    assert found[SECOND].waits_for == AwaitedEnd("podgroup", NAMESPACE, "first")


def test_a_forecast_says_how_long_earlier_runs_took():
    driver = busy(gang("second", minimum=2), *members("second"))
    assert forecasts(driver, driver.now)[SECOND].learned is None
    run_times = driver.engine._knowledge.run_times
    for seconds in (60.0, 60.0, 90.0):
        run_times.ended += members_that_ran(driver, "second", seconds)
        run_times.learn(driver.now)
    found = forecasts(driver, driver.now)[SECOND]
    assert (found.learned.usual, found.learned.safe) == (60, 90)
    assert found.learned.basis.startswith("3 runs of ")
    assert read_forecast(note_text(found)).learned == found.learned


def members_that_ran(driver, name, seconds):
    """Records of its pods as if they had run for so long until now."""
    group = driver.engine._knowledge.groups.get(GroupKey(NAMESPACE, name))
    return [
        msgspec.structs.replace(record, placed_at=driver.now - seconds) for record in group.members.values()
    ]


def test_a_forecast_moves_when_a_gang_runs_far_beyond_its_expectation():
    driver = busy(gang("second", minimum=2), *members("second"))
    late = forecasts(driver, driver.now + 7200)[SECOND]
    assert driver.now + 7200 <= late.earliest < late.latest


def test_nothing_is_foreseen_without_run_times():
    driver = busy(gang("second", minimum=2), *members("second"))
    driver.see(gang("first", minimum=2))
    assert forecasts(driver, driver.now)[SECOND].unforeseen is Unforeseen.RUN_TIMES


@pytest.mark.parametrize("text", ["soon", "-5m", "900 years", ""])
def test_a_duration_that_makes_no_sense_foretells_nothing(text):
    driver = busy(gang("second", minimum=2), *members("second"))
    driver.see(lasting("first", text))
    assert forecasts(driver, driver.now)[SECOND].unforeseen is Unforeseen.RUN_TIMES


def test_what_fits_on_no_node_is_told_apart():
    driver = busy(gang("second", minimum=3), *members("second", 3))
    assert forecasts(driver, driver.now)[SECOND].unforeseen is Unforeseen.NODES


def test_a_clock_that_jumps_back_breaks_nothing():
    driver = busy(gang("second", minimum=2), *members("second"))
    found = forecasts(driver, driver.now - 86400)[SECOND]
    assert found.earliest >= driver.now - 86400


def test_the_numbers_can_be_sent_to_another_process():
    problem = asked(busy(gang("second", minimum=2), *members("second")), 0.0).problem
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(problem), type=ForecastProblem) == problem


def band(low, high, made=0.0):
    return Forecast(made, made + low, made + high)


def test_small_moves_of_a_band_are_not_noticeable():
    assert not band(3600, 7200).differs_noticeably(band(3610, 7300))
    assert band(3600, 7200).differs_noticeably(band(5000, 9000))
    assert Forecast(0.0, unforeseen=Unforeseen.NODES).differs_noticeably(band(1, 2))


def test_a_place_is_told_again_when_it_has_changed_which_matters_less_far_behind():
    def placed(pods, groups):
        return Forecast(0.0, 3600.0, 7200.0, ahead=Ahead(pods, groups))

    assert placed(0, 0).differs_noticeably(placed(0, 3))
    assert not placed(0, 500).differs_noticeably(placed(2, 500))
    assert not placed(2, 3).differs_noticeably(placed(3, 3))
    assert not placed(100, 30).differs_noticeably(placed(110, 31))
    assert placed(100, 30).differs_noticeably(placed(140, 30))
    assert band(3600, 7200).differs_noticeably(placed(0, 0))


def test_a_forecast_says_what_is_ahead_where_age_does_not_tell():
    assert forecasts(busy(gang("second", minimum=2), *members("second")), 0.0)[SECOND].ahead is None
    profile = replace(DEFAULT_PROFILE, queue_policy="shortest-expected")
    driver = Driver(node("n1", cpu="2"), options=EngineOptions({"default-scheduler": profile}))
    driver.see(lasting("first", "1h"), *members("first"))
    driver.decide()
    driver.see(lasting("second", "2h"), *members("second"), lasting("third", "1h"), *members("third"))
    driver.decide()
    found = forecasts(driver, driver.now)
    assert found[GroupKey(NAMESPACE, "third")].ahead == Ahead(pods=0, groups=0)
    assert found[SECOND].ahead == Ahead(pods=0, groups=1)


def test_a_band_that_is_exceeded_too_often_becomes_wider_and_one_that_holds_narrower():
    calibration = Calibration()
    before = calibration.widened(600, 1200)
    calibration.learn(was_early=False, was_late=True)
    assert calibration.widened(600, 1200)[1] > before[1]
    for _ in range(100):
        calibration.learn(was_early=False, was_late=False)
    low, high = calibration.widened(600, 1200)
    assert before[0] < low <= high < before[1]


def test_each_end_is_exceeded_in_one_of_ten_forecasts_in_the_long_run():
    """Waits of twice to eight times what rollouts say."""
    calibration, late = Calibration(), 0
    for number in range(2000):
        wait = 1000.0 * 2 ** (1 + 2 * (number * 0.618 % 1))
        low, high = calibration.widened(1000, 1100)
        late += wait > high
        calibration.learn(was_early=wait < low, was_late=wait > high)
    assert late / 2000 == pytest.approx(0.1, abs=0.02)


def test_bands_hold_where_hundreds_of_forecasts_are_made_before_the_first_is_known_to_hold():
    calibration, late = Calibration(), 0
    for burst in range(40):
        low, high = calibration.widened(1000, 1100)
        waits = [1000.0 * 2 ** (1 + 2 * ((burst * 500 + number) * 0.618 % 1)) for number in range(500)]
        late += sum(wait > high for wait in waits)
        for wait in waits:
            calibration.learn(was_early=wait < low, was_late=wait > high)
    assert late / (40 * 500) == pytest.approx(0.1, abs=0.03)


def test_the_book_counts_what_came_true():
    book = ForecastBook()
    names = [GroupKey("n", str(number)) for number in range(4)]
    unknown = Forecast(0.0, unforeseen=Unforeseen.RUN_TIMES)
    book.put(dict(zip(names, [band(100, 200)] * 3 + [unknown], strict=True)), 0.0)
    for name, moment in zip(names, (150.0, 50.0, 300.0, 10.0), strict=True):
        book.started(name, moment)
    tally = book.tally
    assert (tally.inside, tally.early, tally.late, tally.unforeseen) == (1, 1, 1, 1)
    assert tally.before_bound == 0
    assert book.latest == {}


def test_the_first_forecast_counts_and_a_late_start_is_learned_once():
    book, name = ForecastBook(), GroupKey("n", "x")
    book.put({name: band(100, 200)}, 0.0)
    margin = book.calibration.late
    book.put({name: band(400, 500)}, 300.0)
    learned = book.calibration.late
    assert learned > margin
    book.put({name: band(700, 800)}, 600.0)
    book.started(name, 750.0)
    assert book.calibration.late == learned
    assert book.tally.late == 1


def test_what_is_deleted_is_not_counted():
    book, name = ForecastBook(), GroupKey("n", "x")
    book.put({name: band(100, 200)}, 0.0)
    book.put({}, 50.0)
    book.started(name, 60.0)
    assert book.tally.given == 0


def test_the_engine_knows_when_something_has_started():
    alone = pod("alone", "1")
    driver = Driver(node("n1", cpu="3"), gang("second", minimum=2), *members("second"), alone)
    names = [SECOND, GroupKey(NAMESPACE, "gone"), PodRef(NAMESPACE, "alone", alone.metadata.uid)]
    assert driver.engine.start_times(names) == {}
    driver.decide()
    assert driver.engine.start_times(names) == {names[0]: driver.now, names[2]: driver.now}
