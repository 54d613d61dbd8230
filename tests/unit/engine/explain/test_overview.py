from posse.engine.queue.backlog import QueueState
from tests.support.builders import changed, gang, node, nodes, one_domain, pod, pods
from tests.support.engine_driver import Driver


def summaries(driver):
    return {
        group.key.name: (group.state, group.attached, group.minimum, group.members)
        for group in driver.engine.overview().groups
    }


def test_it_counts_nodes_and_pods():
    driver = Driver(*nodes(2, cpu="1"), *pods(3, cpu="1"))
    driver.decide()
    seen = driver.engine.overview()
    assert (seen.nodes, seen.pods_on_nodes, seen.pods_waiting) == (2, 2, 1)
    assert seen.queue[QueueState.UNSCHEDULABLE] == 1
    assert seen.groups == ()


def test_every_group_has_a_line_sorted_by_name():
    driver = Driver(
        *nodes(2, cpu="1"),
        gang("started", minimum=2),
        *pods(2, cpu="1", group="started"),
        gang("does-not-fit", minimum=2),
        *pods(2, first=3, cpu="1", group="does-not-fit"),
        gang("short", minimum=2),
        pod("p5", group="short"),
        pod("p6", group="without-object"),
    )
    driver.decide()
    assert summaries(driver) == {
        "does-not-fit": ("Waiting", 0, 2, 2),
        "short": ("WaitingForPods", 0, 2, 1),
        "started": ("Scheduled", 2, 2, 2),
        "without-object": ("WaitingForPodGroup", 0, 1, 1),
    }
    assert list(summaries(driver)) == sorted(summaries(driver))


def test_a_waiting_group_shows_its_reason():
    driver = Driver(node("a", cpu="1"), gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    (group,) = driver.engine.overview().groups
    assert group.message.startswith("only 1 of the 2 pods")


def test_a_started_gang_that_lost_members_is_not_shown_as_scheduled():
    first, second = pods(2, cpu="1", group="g1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), first, second)
    driver.decide()
    driver.lose(first)
    assert summaries(driver)["g1"][0] == "BelowMinimum"


def test_a_gang_all_of_whose_members_have_succeeded_is_shown_as_finished():
    started = pods(2, group="g1")
    driver = Driver(*nodes(2), gang(minimum=2), *started)
    driver.bind_and_confirm(*started)
    for one in started:
        driver.see(changed(one, status={"phase": "Succeeded"}))
    driver.decide()
    assert summaries(driver)["g1"][0] == "Finished"


def test_a_group_that_contradicts_the_cluster_is_shown_as_invalid_as_posse_gangs_does():
    first = pod("p1", group="g1", on="a")
    driver = Driver(node("a"), node("b", labels={"rack": "r1"}), gang(minimum=2, **one_domain("rack")), first)
    driver.see(pod("p2", group="g1"))
    driver.decide()
    (listed,) = driver.engine.situations()
    assert (summaries(driver)["g1"][0], listed.state) == ("Invalid", "Invalid")
