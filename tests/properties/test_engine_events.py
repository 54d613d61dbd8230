"""Any history of a cluster, told late and answered badly, keeps the laws of the engine."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.groups.forms import MIN_RESOURCES_ANNOTATION
from posse.engine.placement.gang.minimum_resources import share_of
from tests.differential.laws import check_decisions, check_state
from tests.differential.shadow import OURS, Shadow
from tests.support.builders import basic_group, changed, gang, gated, node, pod, taint

NODES = ["n0", "n1", "n2", "n3"]
GROUPS = ["g0", "g1"]
CPUS = ["500m", "1", "2"]

slots = st.integers(0, 30)
delays = st.sampled_from([0.0, 0.5, 1.0, 20.0, 400.0])
HAPPENINGS = {
    "put_node": st.tuples(
        st.sampled_from(NODES),
        st.sampled_from(["1", "2", "4"]),
        st.sampled_from(["open", "open", "open", "cordoned", "tainted"]),
    ),
    "drop_node": st.tuples(st.sampled_from(NODES)),
    "create_pods": st.tuples(
        st.integers(1, 4),
        st.sampled_from([None, *GROUPS]),
        st.sampled_from(CPUS),
        st.sampled_from([*[""] * 9, "gated", "other scheduler", "urgent"]),
    ),
    "mark_deleted": st.tuples(slots),
    "remove_pod": st.tuples(slots),
    "finish_pod": st.tuples(slots),
    "ungate": st.tuples(slots),
    "bind_by_other": st.tuples(slots),
    "resize": st.tuples(slots, st.sampled_from(CPUS)),
    "put_group": st.tuples(st.sampled_from(GROUPS), st.integers(0, 4), st.booleans()),
    "drop_group": st.tuples(st.sampled_from(GROUPS)),
    "deliver": st.tuples(st.integers(1, 5)),
    "answer": st.tuples(st.integers(1, 4), st.sampled_from(["", "", "outage", "lost"])),
    "decide": st.tuples(delays),
    "catch_up": st.tuples(delays),
}
OFTEN = ["create_pods", "create_pods", "create_pods", "catch_up", "catch_up", "answer", "deliver", "put_node"]

steps = st.sampled_from([*HAPPENINGS, *OFTEN]).flatmap(
    lambda name: st.tuples(st.just(name), HAPPENINGS[name])
)


class Story:
    """Turns drawn steps into what happens in the cluster, and lets the laws be checked at every decision."""

    def __init__(self):
        self.shadow = Shadow()
        self.api = self.shadow.api
        self.created = 0
        for name in NODES[:2]:
            self.put_node(name, "4", "open")
        self.put_group(GROUPS[0], minimum=3, recreate=False)

    def play(self, step):
        name, arguments = step
        getattr(self, name)(*arguments)

    def put_node(self, name, cpu, kind):
        self.shadow.write(
            node(
                name,
                cpu,
                unschedulable=kind == "cordoned",
                taints=[taint("k")] if kind == "tainted" else [],
            )
        )

    def drop_node(self, name):
        if name in self.api.nodes:
            self.shadow.erase(self.api.nodes[name])

    def create_pods(self, count, group, cpu, oddity):
        for _ in range(count):
            self.created += 1
            self.shadow.write(
                pod(
                    f"p{self.created}",
                    cpu,
                    group=group or "",
                    created=f"2026-01-01T00:00:{self.created % 60:02}Z",
                    scheduling_gates=gated("wait") if oddity == "gated" else (),
                    scheduler_name="other" if oddity == "other scheduler" else OURS,
                    priority=5 if oddity == "urgent" else None,
                )
            )

    def _pod(self, slot):
        pods = list(self.api.pods.values())
        return pods[slot % len(pods)] if pods else None

    def _rewrite(self, slot, **parts):
        if (chosen := self._pod(slot)) is not None:
            self.shadow.write(changed(chosen, **parts))

    def mark_deleted(self, slot):
        self._rewrite(slot, metadata={"deletion_timestamp": "2026-01-02T00:00:00Z"})

    def finish_pod(self, slot):
        self._rewrite(slot, status={"phase": "Succeeded"})

    def ungate(self, slot):
        self._rewrite(slot, spec={"scheduling_gates": ()})

    def resize(self, slot, cpu):
        self._rewrite(slot, spec={"containers": pod(cpu=cpu).spec.containers})

    def bind_by_other(self, slot):
        chosen = self._pod(slot)
        if chosen is not None and not chosen.spec.node_name:
            self._rewrite(slot, spec={"node_name": NODES[slot % len(NODES)], "scheduling_gates": ()})

    def remove_pod(self, slot):
        if (chosen := self._pod(slot)) is not None:
            self.shadow.erase(chosen)

    def put_group(self, name, minimum, recreate):
        uid = f"{name}-{self.created}" if recreate else name
        self.shadow.write(gang(name, minimum, uid=uid) if minimum else basic_group(name, uid=uid))

    def drop_group(self, name):
        for key, group in list(self.api.groups.items()):
            if key.name == name:
                self.shadow.erase(group)

    def deliver(self, count):
        self.shadow.deliver(count)

    def answer(self, count, trouble):
        self.shadow.answer(count, outage=trouble == "outage", lost=trouble == "lost")

    def decide(self, after):
        check_decisions(self.shadow, self.shadow.decide(after))
        check_state(self.shadow)

    def catch_up(self, after):
        self.deliver(len(self.shadow.undelivered))
        self.decide(after)

    def come_to_rest(self):
        """Everything is delivered and answered; nothing else happens."""
        for after in (0.0, 400.0, 400.0):
            self.catch_up(after)
            self.answer(len(self.shadow.unanswered), "")


class DemandingStory(Story):
    """Groups say what they need in all, and the laws are those of what is set aside for them."""

    def put_group(self, name, minimum, recreate):
        needs = {MIN_RESOURCES_ANNOTATION: f'{{"cpu": "{2 * minimum}"}}'} if minimum else {}
        uid = f"{name}-{self.created}" if recreate else name
        self.shadow.write(changed(gang(name, max(1, minimum - 2), uid=uid), metadata={"annotations": needs}))

    def decide(self, after):
        self.shadow.decide(after)
        known = self.shadow.engine._knowledge
        shares = [share_of(known.state.nodes, group) for group in known.groups]
        for effective_priority in (0, 5):
            lacks = [
                Counter(share.lack) for share in shares if share.effective_priority >= effective_priority
            ]
            assert +Counter(known.state.minimum_reservations.against(effective_priority)) == sum(
                lacks, Counter()
            )


@given(st.lists(steps, min_size=20, max_size=100))
def test_what_is_set_aside_is_what_the_groups_that_run_lack(history):
    story = DemandingStory()
    for step in history:
        story.play(step)
    story.come_to_rest()


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(steps, min_size=20, max_size=100))
def test_any_history_keeps_the_laws(history):
    story = Story()
    for step in history:
        story.play(step)
    story.come_to_rest()
    assert not any(
        entry.place.value == "error backoff"
        for entry in story.shadow.engine._knowledge.backlog._entries.values()
    )


@given(st.lists(steps, min_size=20, max_size=100))
def test_the_same_history_gives_the_same_decisions(history):
    first, second = Story(), Story()
    for step in history:
        for story in (first, second):
            story.play(step)
    assert first.shadow.log == second.shadow.log
    assert first.shadow.decide(0.0) == second.shadow.decide(0.0)
