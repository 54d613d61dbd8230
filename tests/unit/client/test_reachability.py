from posse.client.reachability import QUIET_SECONDS, Reachability


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def told(caplog):
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_a_server_that_does_not_answer_for_a_while_is_told_of_once_and_so_is_its_return(caplog):
    caplog.set_level("INFO")
    clock = Clock()
    reachability = Reachability(clock)
    reachability.failed("refused", clock.now)
    assert told(caplog) == []
    clock.now += QUIET_SECONDS
    for _ in range(3):
        reachability.failed("refused", clock.now)
    assert told(caplog) == [("WARNING", "refused; asking again until it answers")]
    assert reachability.trouble == "refused"
    reachability.answered()
    reachability.answered()
    assert told(caplog)[1:] == [("INFO", "the API server answers again")]
    assert not reachability.trouble


def test_a_request_that_took_long_to_fail_is_told_of_at_once(caplog):
    clock = Clock()
    Reachability(clock).failed("no answer", clock.now - QUIET_SECONDS)
    assert len(told(caplog)) == 1


def test_connections_that_break_between_answers_are_not_told_of(caplog):
    caplog.set_level("INFO")
    clock = Clock()
    reachability = Reachability(clock)
    for _ in range(5):
        reachability.failed("cut off", clock.now)
        clock.now += QUIET_SECONDS
        reachability.answered()
    assert told(caplog) == []
