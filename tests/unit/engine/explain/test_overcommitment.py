from posse.engine.explain.statistics import Overcommitted
from posse.engine.queue.starvation_guard import PATIENCE_SECONDS
from tests.support.builders import gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver


def test_what_others_took_beyond_what_there_is_is_told_and_nothing_more_goes_there():
    small, large = node("small", cpu="2"), node("large", cpu="4")
    driver = Driver(small, large)
    driver.see(pod("theirs-1", cpu="2", on="small"), pod("theirs-2", cpu="1", on="small"))
    assert driver.engine.overcommitted() == [Overcommitted("small", "cpu", 3000, 2000)]
    assert driver.engine.statistics().overcommitted_nodes == 1
    driver.see(*(pod(f"ours-{number}", cpu="1") for number in range(4)))
    assert set(driver.bind().values()) == {"large"}
    driver.lose(pod("theirs-2", cpu="1", on="small"))
    assert driver.engine.overcommitted() == []


def test_reserved_capacity_counts_as_no_pod():
    service = pod("service", cpu="1", on="n1")
    driver = Driver(*nodes(2, cpu="1"), service, gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    passer_by = pod("passer-by", cpu="1")
    driver.see(passer_by)
    driver.bind()
    driver.lose(passer_by)
    driver.decide(after=PATIENCE_SECONDS)
    assert driver.engine._knowledge.starvation_guard.reservation is not None
    assert driver.engine.overcommitted() == []
    assert driver.engine.statistics().overcommitted_nodes == 0
