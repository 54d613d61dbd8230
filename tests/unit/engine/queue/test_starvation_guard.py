"""No entry waits for ever: not large gangs behind a stream of small pods, nor pods behind gangs that never fit."""

from posse.engine.queue.starvation_guard import PATIENCE_SECONDS, RESERVATION_SECONDS, REST_SECONDS
from posse.model.container import ContainerPort
from tests.support.builders import changed, composite, gang, node, nodes, one_domain, pod, pods
from tests.support.engine_driver import Driver, evicted, placements, pod_reports

RUN_SECONDS = 20.0
STEP_SECONDS = 4.0


class Stream:
    """A pod a step, each for a while: more than the cluster can hold, so that some always wait."""

    def __init__(self, driver):
        self.driver = driver
        self.ends = []
        self.waiting = {}
        self.made = 0

    def step(self):
        """Let time pass; return where pods of others than the stream were placed."""
        now = self.driver.now + STEP_SECONDS
        for end, one in [item for item in self.ends if item[0] <= now]:
            self.driver.lose(one)
            self.ends.remove((end, one))
        self.made += 1
        newcomer = pod(
            f"s{self.made}", cpu="1", created=f"2026-01-01T01:{self.made // 60:02}:{self.made % 60:02}Z"
        )
        self.waiting[newcomer.metadata.name] = newcomer
        self.driver.see(newcomer)
        placed = self.driver.bind(after=STEP_SECONDS)
        for name in [name for name in placed if name in self.waiting]:
            one = self.waiting.pop(name)
            self.driver.confirm(one, on=placed[name])
            self.ends.append((now + RUN_SECONDS, changed(one, spec={"node_name": placed.pop(name)})))
        return placed


def test_a_gang_starts_although_small_pods_would_take_all_that_becomes_free():
    driver = Driver(*nodes(4, cpu="1"))
    stream = Stream(driver)
    for _ in range(10):
        stream.step()
    driver.see(gang(minimum=4), *pods(4, cpu="1", group="g1"))
    arrived = driver.now
    placed = {}
    while not placed and driver.now < arrived + 600:
        placed = stream.step()
    assert sorted(placed) == ["p1", "p2", "p3", "p4"]
    assert driver.now - arrived <= PATIENCE_SECONDS + RUN_SECONDS + 3 * STEP_SECONDS
    for name, on in placed.items():
        driver.lose(pod(name, cpu="1", group="g1", on=on))
    assert any(stream.step() is not None and stream.ends for _ in range(3))


def test_a_tree_starts_although_small_pods_would_take_all_that_becomes_free():
    racks = [node(f"n{index}", cpu="1", labels={"rack": f"r{index // 2}"}) for index in range(4)]
    driver = Driver(*racks)
    stream = Stream(driver)
    for _ in range(10):
        stream.step()
    driver.see(composite("root", 2))
    for name in ("a", "b"):
        leaf = gang(name, 2, parent_composite_pod_group_name="root", **one_domain("rack"))
        driver.see(leaf, *(pod(f"{name}{index}", cpu="1", group=name) for index in range(2)))
    arrived = driver.now
    placed = {}
    while not placed and driver.now < arrived + 600:
        placed = stream.step()
    assert sorted(placed) == ["a0", "a1", "b0", "b1"]
    assert driver.now - arrived <= PATIENCE_SECONDS + RUN_SECONDS + 3 * STEP_SECONDS


def endless(count):
    return [pod(f"service-{i}", cpu="1", on=f"n{i}") for i in range(1, count + 1)]


def impatient(driver):
    """Let the gang be refused and overtaken, and for so long that room is kept for it."""
    driver.decide()
    overtake(driver)
    driver.decide(after=PATIENCE_SECONDS)


def overtake(driver):
    """Let a pod come, find a place, and go again."""
    passer_by = pod("passer-by")
    driver.see(passer_by)
    assert list(driver.bind()) == ["passer-by"]
    driver.lose(passer_by)


def test_pods_wait_for_kept_room_no_longer_than_the_window():
    driver = Driver(*nodes(4, cpu="1"), *endless(3), gang(minimum=4), *pods(4, cpu="1", group="g1"))
    impatient(driver)
    driver.see(pod("single", cpu="1"))
    decisions = driver.decide(after=1.0)
    assert placements(decisions) == {}
    assert "Capacity on 4 nodes is reserved for pod group test/g1" in pod_reports(decisions)["single"][1]
    assert driver.bind(after=RESERVATION_SECONDS) == {"single": "n4"}


def test_after_a_window_room_is_kept_again_only_after_a_rest():
    driver = Driver(*nodes(4, cpu="1"), *endless(3), gang(minimum=4), *pods(4, cpu="1", group="g1"))
    impatient(driver)
    keeper = driver.engine._knowledge.starvation_guard
    assert keeper.reservation is not None
    driver.decide(after=RESERVATION_SECONDS)
    assert keeper.reservation is None
    overtake(driver)
    driver.decide(after=REST_SECONDS - 1)
    assert keeper.reservation is None
    driver.decide(after=2.0)
    assert keeper.reservation is not None


def test_no_room_is_kept_for_a_gang_that_nobody_overtakes():
    driver = Driver(*nodes(4, cpu="1"), *endless(3), gang(minimum=4), *pods(4, cpu="1", group="g1"))
    driver.decide()
    driver.decide(after=PATIENCE_SECONDS)
    assert driver.engine._knowledge.starvation_guard.reservation is None


def test_no_room_is_kept_for_a_gang_that_is_too_large_for_the_cluster():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *pods(3, cpu="1", group="g1"))
    impatient(driver)
    driver.see(pod("single", cpu="1"))
    assert list(driver.bind(after=1.0)) == ["single"]


def test_only_as_many_nodes_are_kept_as_the_gang_needs():
    driver = Driver(
        *nodes(4, cpu="2"),
        *endless(4),
        gang(minimum=2),
        *pods(2, cpu="2", group="g1"),
        pod("x", cpu="1", on="n1"),
    )
    impatient(driver)
    driver.see(*pods(4, first=10, cpu="1"))
    assert list(driver.bind(after=1.0).values()) == ["n4"]
    driver.lose(*endless(4)[1:3])
    assert driver.bind(after=1.0) == {"p1": "n2", "p2": "n3"}


def test_who_matters_more_is_not_held_up():
    driver = Driver(*nodes(4, cpu="1"), *endless(3), gang(minimum=4), *pods(4, cpu="1", group="g1"))
    impatient(driver)
    driver.see(pod("urgent", cpu="1", priority=10))
    assert driver.bind(after=1.0) == {"urgent": "n4"}


def test_a_gang_that_started_needs_no_room_any_more():
    driver = Driver(*nodes(2, cpu="1"), *endless(1), gang(minimum=2), *pods(2, cpu="1", group="g1"))
    impatient(driver)
    driver.lose(*endless(1))
    assert sorted(driver.bind(after=1.0)) == ["p1", "p2"]
    assert driver.engine._knowledge.starvation_guard.reservation is None
    assert driver.engine._knowledge.state.nodes.requested[0, :2].tolist() == [1000, 1000]


def test_a_node_that_vanishes_while_room_is_kept_on_it_leaves_no_trace():
    driver = Driver(*nodes(3, cpu="1"), *endless(1), gang(minimum=3), *pods(3, cpu="1", group="g1"))
    impatient(driver)
    driver.lose(node("n3", cpu="1"))
    driver.decide(after=1.0)
    driver.see(node("n4", cpu="1"))
    driver.lose(*endless(1), *pods(3, cpu="1", group="g1"))
    driver.decide(after=1.0)
    assert not driver.engine._knowledge.state.nodes.requested.any()


def apart(one):
    """Give the pod a host port, which it cannot share a node with."""
    container = changed(one.spec.containers[0], ports=(ContainerPort(container_port=80, host_port=80),))
    return changed(one, spec={"containers": (container,)})


def test_a_gang_that_cannot_use_the_room_gives_it_back():
    """Both members would fit on one node by their requests, but not beside each other."""
    members = [apart(one) for one in pods(2, cpu="1", group="g1")]
    driver = Driver(node("n1", cpu="2"), node("n2", cpu="2"), *endless(2), gang(minimum=2), *members)
    driver.see(pod("x", cpu="1", on="n1"), pod("y", cpu="1", on="n2"))
    impatient(driver)
    keeper = driver.engine._knowledge.starvation_guard
    assert keeper.reservation.rows.tolist() == [0]
    driver.lose(endless(1)[0], pod("x", cpu="1", on="n1"))
    assert driver.bind(after=1.0) == {}
    assert keeper.reservation is None


def test_nodes_that_go_do_not_prolong_the_window():
    driver = Driver(*nodes(5, cpu="1"), *endless(4), gang(minimum=4), *pods(4, cpu="1", group="g1"))
    impatient(driver)
    keeper = driver.engine._knowledge.starvation_guard
    until, kept = (
        keeper.reservation.until,
        driver.engine._knowledge.state.nodes.names[int(keeper.reservation.rows[0])],
    )
    driver.lose(node(kept, cpu="1"))
    driver.decide(after=2.0)
    assert keeper.reservation is not None
    assert keeper.reservation.until == until


def test_no_room_is_kept_where_members_of_the_gang_are():
    members = [pod(f"m{i}", cpu="1", on=f"n{i}", group="g1") for i in (1, 2)]
    driver = Driver(*nodes(4, cpu="1"), *members, *[pod(f"x{i}", cpu="1", on=f"n{i}") for i in (3, 4)])
    driver.see(gang(minimum=4), *pods(2, cpu="1", group="g1"))
    impatient(driver)
    assert driver.engine._knowledge.starvation_guard.reservation.rows.tolist() == [2, 3]


def test_a_gang_keeps_what_it_has_waited_while_a_member_is_replaced():
    driver = Driver(*nodes(2, cpu="1"), *endless(1), gang(minimum=2))
    members = pods(2, cpu="1", group="g1")
    driver.see(*members)
    driver.decide()
    overtake(driver)
    driver.lose(members[1])
    driver.decide(after=40.0)
    driver.see(pod("p3", cpu="1", group="g1"))
    driver.decide(after=1.0)
    assert driver.engine._knowledge.starvation_guard.reservation is None
    driver.decide(after=20.0)
    assert driver.engine._knowledge.starvation_guard.reservation is not None


def test_no_room_is_kept_for_a_gang_for_which_evictions_make_room():
    peers = [pod(f"peer-{i}", cpu="1", on=f"n{i}", priority=10) for i in (1, 2)]
    guards = [pod(f"guard-{i}", cpu="1", on=f"n{i}", priority=20) for i in (3, 4)]
    driver = Driver(*nodes(4, cpu="1"), *peers, *guards, gang(minimum=2, priority=10))
    driver.see(*pods(2, cpu="1", group="g1", priority=10))
    impatient(driver)
    keeper = driver.engine._knowledge.starvation_guard
    assert keeper.reservation.rows.tolist() == [0, 1]
    driver.lose(*guards)
    driver.see(*(pod(f"low-{i}", cpu="1", on=f"n{i}", priority=0) for i in (3, 4)))
    assert evicted(driver.decide(after=1.0)) == ["low-3", "low-4"]
    assert keeper.reservation is None
    overtake(driver)
    driver.decide(after=REST_SECONDS + PATIENCE_SECONDS)
    assert keeper.reservation is None
    assert keeper.next_wakeup() is None or keeper.next_wakeup() >= driver.now + REST_SECONDS
