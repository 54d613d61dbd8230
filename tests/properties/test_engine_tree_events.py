"""A tree whose objects and pods come, go and fail to be bound in any order: nothing of it is ever bound below a minimum."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.decisions import Bind, Evict
from posse.engine.events import BindRefused
from tests.support.builders import changed, composite, gang, node, one_domain, pod
from tests.support.engine_driver import Driver

_GROUPS = {"a": ("left", 2, 3), "b": ("left", 1, 2), "c": ("right", 2, 2), "d": ("root", 1, 2)}
"""Parent, minimum and number of pods of each leaf."""
_BRANCHES = {"root": (None, 2), "left": ("root", 2), "right": ("root", 1)}


def tree_objects():
    for name, (parent, minimum) in _BRANCHES.items():
        above = {"parent_composite_pod_group_name": parent} if parent else {}
        key = one_domain("rack") if name == "left" else {}
        yield name, composite(name, minimum, priority=5, **above, **key)
    for name, (parent, minimum, count) in _GROUPS.items():
        yield f"group {name}", gang(name, minimum, priority=5, parent_composite_pod_group_name=parent)
        for index in range(count):
            yield f"{name}{index}", pod(f"{name}{index}", cpu=str(1 + index % 2), group=name, priority=5)


OBJECTS = dict(tree_objects())
NODES = {f"n{index}": node(f"n{index}", cpu="3", labels={"rack": f"r{index % 2}"}) for index in range(4)}
LOW = {f"low{index}": pod(f"low{index}", cpu="2", on=f"n{index}") for index in range(2)}
PODS = {*LOW, *(f"{name}{index}" for name, (_, _, count) in _GROUPS.items() for index in range(count))}

_steps = st.lists(
    st.one_of(
        st.tuples(st.just("come"), st.sampled_from([*OBJECTS, *NODES, *LOW])),
        st.tuples(st.just("go"), st.sampled_from([*OBJECTS, *LOW])),
        st.tuples(st.sampled_from(["decide", "confirm", "refuse"]), st.just("")),
    ),
    min_size=10,
    max_size=60,
)


class Story:
    """The engine, and what it was told, in plain dicts."""

    def __init__(self):
        self.driver = Driver()
        self.seen = {}
        """Objects that exist, by name."""
        self.promised = {}
        """Node by name of the pods that the engine wants bound and that are not yet."""

    def come(self, name):
        taken = LOW[name].spec.node_name if name in LOW else ""
        if name not in self.seen and not (taken and self.used(taken)):
            made = {**OBJECTS, **NODES, **LOW}[name]
            self.seen[name] = made
            self.driver.see(made)

    def go(self, name):
        if name in self.seen:
            self.driver.lose(self.seen.pop(name))
            self.promised.pop(name, None)

    def decide(self, _=""):
        for decision in self.driver.decide(after=30):
            if isinstance(decision, Bind):
                for placement in decision.placements:
                    assert placement.pod.name not in self.promised
                    self.promised[placement.pod.name] = placement.node
                self.check(decision)
            elif isinstance(decision, Evict):
                self.go(decision.pod.name)

    def confirm(self, _=""):
        for name, where in self.promised.items():
            bound = changed(self.seen[name], spec={"node_name": where})
            self.seen[name] = bound
            self.driver.see(bound)
        self.promised = {}

    def refuse(self, _=""):
        """The server refuses all that is on its way: a tree is bound whole or not at all."""
        for name, where in self.promised.items():
            self.driver.engine.absorb(BindRefused(self.seen[name].metadata.uid, where, "conflict"))
        self.promised = {}

    def place(self, name):
        return self.promised.get(name) or (self.seen[name].spec.node_name if name in self.seen else "")

    def check(self, bind):
        placed = [placement.pod.name for placement in bind.placements]
        for name in placed:
            leaf = name[0]
            on_nodes = [one for one in self.pods_of(leaf) if self.place(one)]
            assert len(on_nodes) >= _GROUPS[leaf][1]
            branch = _GROUPS[leaf][0]
            while branch is not None:
                assert self.started(branch) >= _BRANCHES[branch][1]
                branch = _BRANCHES[branch][0]
        racks = {
            NODES[self.place(one)].metadata.labels["rack"] for one in self.below_left() if self.place(one)
        }
        assert len(racks) <= 1
        assert all(self.used(where) <= 3 for where in NODES)

    def used(self, where):
        """Return the CPU that pods take on the node."""
        there = [one for name, one in self.seen.items() if name in PODS and self.place(name) == where]
        return sum(int(one.spec.containers[0].resources.requests["cpu"]) for one in there)

    def pods_of(self, leaf):
        return [f"{leaf}{index}" for index in range(_GROUPS[leaf][2])]

    def below_left(self):
        return [one for leaf in ("a", "b") for one in self.pods_of(leaf)]

    def started(self, branch):
        """Return how many of its children have their minimum on nodes."""
        leaves = [name for name, (parent, _, _) in _GROUPS.items() if parent == branch]
        own = sum(
            sum(1 for one in self.pods_of(leaf) if self.place(one)) >= _GROUPS[leaf][1]
            for leaf in leaves
            if f"group {leaf}" in self.seen
        )
        below = [name for name, (parent, _) in _BRANCHES.items() if parent == branch and name in self.seen]
        return own + sum(self.started(name) >= _BRANCHES[name][1] for name in below)


@given(st.permutations([*OBJECTS, *NODES, *LOW]), st.integers(0, 25), _steps)
def test_nothing_of_a_tree_is_bound_below_a_minimum_whatever_happens(order, first, steps):
    story = Story()
    for name in order[:first]:
        story.come(name)
    for step, name in steps:
        getattr(story, step)(name)
    story.decide()


@given(_steps)
def test_a_tree_that_is_all_there_starts_in_the_end(steps):
    story = Story()
    for step, name in steps:
        getattr(story, step)(name)
    story.refuse()
    for name in LOW:
        story.go(name)
    for name in [one for one in OBJECTS if one in story.seen]:
        story.go(name)
    for name in (*NODES, *OBJECTS):
        story.come(name)
    story.decide()
    assert {story.place(name) for name in ("c0", "c1")} <= set(NODES)
    assert sum(bool(story.place(name)) for name in OBJECTS if name[0] in _GROUPS and len(name) == 2) >= 3
