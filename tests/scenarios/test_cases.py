"""The case book: public problems of other schedulers, and what Posse does with the same manifests."""

import re

import pytest

from tests.support.case_world import CASES, CaseWorld

STORIES = sorted(path.stem for path in CASES.glob("*.md") if path.stem != "README")


def test_two_gangs_that_need_the_whole_cluster_do_not_share_it():
    world = CaseWorld("half-and-half")
    assert len(set(world.placed("first").values())) == 8
    assert world.placed("second") == {}
    world.end(*world.members("first"))
    assert len(world.placed("second")) == 8


def test_a_large_gang_is_not_starved_by_a_stream_of_single_pods():
    world = CaseWorld("starving-gang", "starving-gang-large")
    for number in range(60):
        if world.placed("large"):
            break
        world.submit_pod(f"stream-{number}")
        running = [*world.placed("small"), *world.placed("stream")]
        if number % 3 == 0 and running:
            world.end(running[0])
        world.settle(after=5.0)
    assert len(world.placed("large")) == 4


def test_replicas_of_a_leader_worker_set_start_whole():
    world = CaseWorld("leaders-without-workers")
    assert set(world.placed("vllm")) == {"vllm-0", "vllm-0-1", "vllm-1", "vllm-1-1"}


def test_a_job_that_never_fits_blocks_no_other():
    world = CaseWorld("hopeless-job")
    assert world.placed("hopeless") == {}
    assert len(world.placed("fitting")) == 6


def test_a_gang_that_waits_holds_no_capacity():
    world = CaseWorld("assumed-and-idle")
    assert world.placed("ten") == {}
    assert len(world.placed("others")) == 9


def test_a_gang_on_fragmented_nodes_is_refused_once_and_others_start():
    world = CaseWorld("endless-loop")
    assert world.placed("distributed") == {}
    assert len(world.placed("other")) == 4
    assert not world.engine.has_work


def test_of_two_interleaved_trees_one_starts_whole():
    world = CaseWorld("interleaved-trees")
    started = [part for part in "abcd" if world.placed(part)]
    assert started == ["a", "b"]
    world.end(*world.members("a"), *world.members("b"))
    assert len(world.placed("c")) == len(world.placed("d")) == 2


def test_nothing_is_evicted_unless_the_preemptor_fits_then():
    world = CaseWorld("evicted-in-vain", "evicted-in-vain-whole-node")
    assert world.placed("whole-node") == {}
    assert world.evicted == []


def test_no_more_pods_are_evicted_than_needed():
    world = CaseWorld("ten-for-one", "ten-for-one-urgent")
    assert len(world.evicted) == 1
    world.end(*world.evicted)
    assert len(world.placed("urgent")) == 1
    assert len(world.placed("victims")) == 10


def test_pods_of_a_gang_share_a_claim():
    world = CaseWorld("shared-claim")
    assert set(world.placed("pair").values()) == {"node-1"}


def test_devices_are_chosen_for_the_gang_and_not_for_its_first_pod():
    assert len(CaseWorld("whole-or-half").placed("pair")) == 2


def test_what_victims_leave_is_kept_until_the_last_of_them_is_gone():
    world = CaseWorld("thrash", "thrash-preemptor")
    first, second = world.evicted
    world.apply("thrash-again")
    world.end(first)
    assert world.placed("again") == {}
    world.end(second)
    assert len(world.placed("preemptor")) == 2
    assert world.placed("again") == {}
    assert len(world.evicted) == 2


def test_a_gang_gets_its_repaired_node_back():
    world = CaseWorld("stranded-after-repair")
    world.lose_node("node-3")
    world.apply("stranded-after-repair-replacement")
    world.apply("stranded-after-repair-newcomer")
    world.return_node("node-3")
    assert world.placed("newcomer") == {}
    assert world.placed("gang")["gang-3"] == "node-3"


def test_a_small_gang_leaves_the_empty_rack_to_a_large_one():
    world = CaseWorld("last-empty-rack", "last-empty-rack-gangs")
    assert set(world.placed("two").values()) == {"node-3", "node-4"}
    assert set(world.placed("four").values()) == {f"node-{number}" for number in range(5, 9)}


@pytest.mark.parametrize("name", STORIES)
def test_every_story_cites_its_public_report_and_its_manifests(name):
    story = (CASES / f"{name}.md").read_text()
    assert re.search(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", story)
    linked = set(re.findall(r"\(([\w-]+\.yaml)\)", story))
    own = {path.name for path in CASES.glob(f"{name}*.yaml")}
    assert linked == own
    assert f"({name}.md)" in (CASES / "README.md").read_text()


def test_every_manifest_belongs_to_a_story():
    manifests = {path.stem for path in CASES.glob("*.yaml")}
    assert len(STORIES) >= 12
    assert [name for name in manifests if not any(name.startswith(story) for story in STORIES)] == []
