"""Whatever befalls a JobSet of gangs, no part of a gang ever starts without the rest, and none waits for ever.

Pods fail, nodes lose them, the JobSet grows, shrinks, is suspended, goes on and starts again; controllers look late, are interrupted and
forget. Scheduler and nodes do what they should.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.kinds.registry import JOB_SET
from tests.support.effort import up_to
from tests.support.jobset_world import LEFT_WITH_A_JOBSET, World

PLENTY = 10_000
MOST_PODS = 4
MODES = ("whole", "parts", "each", "tree")


PARTS = {
    "parts": {"gangMode": "Gang"},
    "each": {"gangMode": "ReplicatedGang"},
    "tree": {"disruptionMode": {"all": {}}},
}


@st.composite
def jobsets(draw):
    """A JobSet of one to three replicatedJobs with a few pods each, in one of the modes, perhaps one after the other."""
    mode = draw(st.sampled_from(MODES))
    sequence = draw(st.sampled_from(["", "", "InOrder", "Ready", "Complete"]))
    jobs = []
    for index in range(draw(st.integers(1, 3))):
        pods = draw(st.integers(1, 3))
        pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        spec = {"parallelism": pods, "completions": pods, "backoffLimit": draw(st.integers(0, 1))}
        job = {"name": f"j{index}", "replicas": draw(st.integers(1, 2))}
        job["template"] = {"spec": {**spec, "template": {"spec": pod}}}
        job |= {"gangConfig": PARTS[mode]} if mode in PARTS else {}
        if index and sequence in {"Ready", "Complete"}:
            job["dependsOn"] = [{"name": f"j{index - 1}", "status": sequence}]
        jobs.append(job)
    spec = {"replicatedJobs": jobs}
    if mode in {"whole", "tree"}:
        spec["gangConfig"] = {"gangMode": "Gang"}
    if sequence == "InOrder":
        spec["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
    strategy = draw(st.sampled_from(["Recreate", "BlockingRecreate"]))
    spec["failurePolicy"] = {"maxRestarts": 1000, "restartStrategy": strategy}
    if draw(st.booleans()):
        spec["failurePolicy"]["rules"] = [{"name": "alone", "action": "RestartJobAndIgnoreMaxRestarts"}]
    return {"metadata": {"name": "js"}, "spec": spec}


HAPPENINGS = st.tuples(
    st.sampled_from(
        [
            "lag",
            "work",
            "work",
            "work",
            "fail",
            "fail",
            "succeed",
            "vanish",
            "suspend",
            "resume",
            "scale",
            "forget",
        ]
    ),
    st.integers(0, 9),
    st.integers(0, 12),
)


@settings(max_examples=up_to(40))
@given(jobsets(), st.integers(0, 4), st.lists(HAPPENINGS, min_size=20, max_size=60))
def test_no_gang_starts_in_part_and_none_waits_for_ever(jobset, spare, happenings):
    most = sum(job["replicas"] * MOST_PODS for job in jobset["spec"]["replicatedJobs"])
    world = World(jobset, most + spare)
    for what, choice, steps in happenings:
        befall(world, what, choice)
        disturb(world, world.actors[choice % len(world.actors)], what, steps)
        world.schedule()
        world.run_pods(lingering=0 if choice > 7 else choice % 4)
        world.now += choice * 5.0
    world.change({"suspend": False})
    world.settle()
    assert world.jobset()["status"].get("terminalState") == "Completed"


def disturb(world, chosen, what, steps):
    """Let all actors work, one of them for a few steps only, or on what it knew before, or without a memory."""
    for actor in world.actors:
        if actor is chosen and what == "forget":
            actor.forget()
        elif actor is not chosen or what != "lag":
            actor.catch_up()
        actor.work(steps if actor is chosen else PLENTY)


def befall(world, what, choice):
    running = [pod for pod in world.bound() if pod["status"].get("phase") == "Running"]
    if running and what in {"fail", "succeed"}:
        world.end(running[choice % len(running)], "Failed" if what == "fail" else "Succeeded")
    elif running and what == "vanish":
        world.kill(running[choice % len(running)])
    elif what == "scale" and not world.jobset().get("status", {}).get("terminalState"):
        world.scale(choice, 1 + choice % 4)
    elif what in {"suspend", "resume"}:
        world.change({"suspend": what == "suspend"})


@settings(max_examples=up_to(20))
@given(jobsets(), st.lists(HAPPENINGS, max_size=15))
def test_nothing_is_left_of_a_jobset_that_is_deleted(jobset, happenings):
    world = World(jobset, 12)
    for what, choice, steps in happenings:
        befall(world, what, choice)
        disturb(world, world.actors[choice % len(world.actors)], what, steps)
        world.schedule()
        world.run_pods(lingering=0 if choice > 7 else choice % 4)
    world.service.delete(JOB_SET, "default", "js")
    for _ in range(20):
        for actor in world.actors[1:]:
            actor.catch_up()
            actor.work()
        world.run_pods()
    assert [kind.name for kind in LEFT_WITH_A_JOBSET if world.all(kind)] == []
