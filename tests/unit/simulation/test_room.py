"""Whether a waiting job may fit is known from free GPUs alone, and skipping the engine changes no decision."""

import pytest

from posse.simulation.clusters import equal_nodes
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import named_policies
from posse.simulation.room import Room, is_decided_by_room
from posse.simulation.virtual_cluster import VirtualCluster


def job(name, pods, gpus, submit=0.0, **more):
    return TracedJob(name, submit, 10.0, pods, gpus, **more)


def test_a_gang_fits_if_there_are_places_for_all_its_pods():
    room = Room(equal_nodes(2, 8))
    gang, small = job("gang", 2, 8), job("small", 1, 1)
    assert not room.may_fit()
    room.wait(small)
    room.start(small, ["node-0001"])
    room.wait(gang)
    assert not room.may_fit()
    room.end(small, ["node-0001"])
    assert room.may_fit()
    room.start(gang, ["node-0001", "node-0002"])
    room.wait(small)
    assert not room.may_fit()


def test_a_job_without_gpus_may_always_fit():
    room = Room(equal_nodes(1, 0))
    room.wait(job("cpu", 1, 0))
    assert room.may_fit()


def test_priorities_and_objects_need_the_engine():
    assert is_decided_by_room([job("a", 1, 1), job("b", 2, 8)])
    assert not is_decided_by_room([job("a", 1, 1), job("b", 1, 1, priority=5)])


@pytest.mark.parametrize("policy", ["fifo", "greedy"])
def test_no_decision_changes_by_it(policy, monkeypatch):
    sizes = [(1, 8), (2, 8), (1, 3), (3, 4), (1, 1), (2, 2), (4, 8), (1, 5)]
    jobs = [job(f"j{index}", *sizes[index * 5 % 8], submit=float(index)) for index in range(60)]
    quick = VirtualCluster(equal_nodes(4, 8), jobs, named_policies()[policy]).run()
    monkeypatch.setattr(Room, "may_fit", lambda _: True)
    slow = VirtualCluster(equal_nodes(4, 8), jobs, named_policies()[policy]).run()
    assert quick.digest == slow.digest
