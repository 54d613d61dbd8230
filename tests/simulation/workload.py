"""What people do to a cluster, drawn at random: pods and groups come in any order, change, and go; so do nodes.

All it knows of scheduling is which pods make a likely gang. Numbers are small, so that everybody is in everybody's way.
"""

from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from posse.model.pod import Pod
from posse.model.workload import AllDisruptionMode, CompositePodGroup, DisruptionMode
from tests.simulation.knowledge import (
    group_minimum_of,
    group_name,
    minimum_of,
    parent_of,
    room_of,
    topology_key,
)
from tests.simulation.world import FINISHED
from tests.support.builders import NAMESPACE, basic_group, changed, gang, gated, node, one_domain, pod

MOST_PODS = 25
MOST_NODES = 8
ZONES = ("east", "west")
RACKS = ("r1", "r2", "r3", None)
APPS = ("web", "db")
PRIORITIES = (0, 5, 10, 15, 20)
CROWDED = 0.8
"""In so many runs the cluster is full from the beginning, and higher priorities have to preempt."""


GOES_AS_ONE = {"disruption_mode": DisruptionMode(all=AllDisruptionMode())}


class Workload:
    def __init__(self, world, random):
        self._world = world
        self._random = random
        self._made = 0
        self._coming = []
        """What is about to be created: one list of objects for each group, in the order of their arrival."""
        self._lost_nodes = []
        """Names of nodes that may come back."""
        self._steps = {
            self.arrive: 12.0,
            self.plan_pod: 2.0,
            self.plan_group: 2.0,
            self.delete_pod: 1.0,
            self.ungate: 1.0,
            self.change_minimum: 0.7,
            self.delete_group: 0.3,
            self.recreate_group: 0.3,
            self.add_node: 0.7,
            self.lose_node: 0.4,
            self.flap_node: 0.3,
            self.resize_node: 0.5,
            self.cordon: 0.5,
            self.move_node: 0.3,
            self.bind_elsewhere: 0.4,
            self.change_budget: 0.5,
        }

    def begin(self):
        for _ in range(self._random.randint(3, 6)):
            self.add_node()
        if self._random.random() < CROWDED:
            self._crowd()
        for _ in range(self._random.randint(1, 3)):
            self.plan_group()

    def _crowd(self):
        """Fill the nodes with pods that matter little; some go as one, and some are protected by a budget."""
        names = [None]
        for _ in range(self._random.randint(0, 2)):
            self._made += 1
            names.append(f"g{self._made}")
        ranks = {name: self._random.choice(PRIORITIES[:2]) for name in names}
        fillers = [made for one in self._world.nodes.values() for made in self._fillers(one, names, ranks)]
        for name in names[1:]:
            size = sum(group_name(made) == name for made in fillers)
            self._world.create(changed(self._group(name, size or 1, ranks[name]), spec=GOES_AS_ONE))
        for made in fillers:
            self._world.create(made)
        self.change_budget()

    def _fillers(self, there, names, ranks):
        """Return one pod or two that take all of a node, or all but one CPU."""
        cpu, _ = room_of(there)
        part = self._random.randint(1, cpu)
        rest = cpu - part - self._random.randint(0, 1)
        for size in (part, rest):
            if size > 0:
                name = self._random.choice(names)
                made = self._pod(size, group=name, priority=ranks[name], on=there.metadata.name)
                started = {"phase": "Running", "start_time": self._world.timestamp()}
                yield changed(made, status=started)

    def step(self):
        """Do something, and return what; empty if there was nothing to do."""
        (action,) = self._random.choices(list(self._steps), list(self._steps.values()))
        return action() or ""

    def finish(self):
        """Create what is still to come."""
        while self._coming:
            self.arrive()

    # --- pods and groups ---------------------------------------------------------------------------------

    def arrive(self):
        if not self._coming:
            return None
        series = self._random.choice(self._coming)
        obj = series.pop(0)
        if not series:
            self._coming.remove(series)
        if isinstance(obj, Pod) and len(self._world.pods) >= MOST_PODS:
            return None
        made = self._world.create(obj)
        return f"{type(made).__name__} {made.metadata.name} comes{_described(made)}"

    def plan_pod(self):
        priority = self._random.choice(PRIORITIES)
        self._coming.append([self._pod(self._random.randint(1, 3), priority=priority)])

    def plan_group(self):
        """Plan a group object and its pods, in any order; now and then something is wrong or missing."""
        draw = self._random
        self._made += 1
        name, size, priority = f"g{self._made}", draw.randint(1, 7), draw.choice(PRIORITIES)
        members = [self._pod(cpu, group=name, priority=priority) for cpu in self._sizes(size)]
        if draw.random() < 0.05:
            members[0] = changed(members[0], spec={"priority": priority + 1})
        if draw.random() < 0.15:
            members[-1] = changed(members[-1], spec={"scheduling_gates": gated("wait")})
        if draw.random() < 0.2:
            zone = {"zone": draw.choice(ZONES)}
            members = [changed(member, spec={"node_selector": zone}) for member in members]
        series = [self._group(name, size, priority), *members]
        if draw.random() < 0.7:
            draw.shuffle(series)
        self._coming.append(series)

    def _sizes(self, count):
        if self._random.random() < 0.6:
            return [self._random.randint(1, 3)] * count
        return [self._random.randint(1, 3) for _ in range(count)]

    def _group(self, name, size, priority):
        wishes = one_domain(self._random.choice(("rack", "zone"))) if self._random.random() < 0.3 else {}
        if self._random.random() < 0.3:
            wishes |= GOES_AS_ONE
        if self._random.random() < 0.15:
            return basic_group(name, priority=priority, **wishes)
        minimum = self._random.choice((size, size, max(1, size - self._random.randint(1, 3)), size + 1))
        return gang(name, minimum, priority=priority, **wishes)

    def _pod(self, cpu, **spec):
        self._made += 1
        labels = {"app": self._random.choice(APPS)}
        return changed(pod(f"p{self._made}", str(cpu), **spec), metadata={"labels": labels})

    def delete_pod(self):
        made = self._any(self._world.pods)
        if made is None:
            return None
        self._world.delete_pod(made)
        return f"{made.metadata.name} is deleted"

    def ungate(self):
        waiting = {name: made for name, made in self._world.pods.items() if made.spec.scheduling_gates}
        made = self._any(waiting)
        if made is None:
            return None
        self._world.put(changed(made, spec={"scheduling_gates": ()}))
        return f"{made.metadata.name} is ungated"

    def change_minimum(self):
        group = self._any(self._world.groups)
        if group is None or group.spec.scheduling_policy.gang is None:
            return None
        minimum = max(1, minimum_of(group) + self._random.choice((-2, -1, 1)))
        policy = gang("", minimum).spec.scheduling_policy
        self._world.put(changed(group, spec={"scheduling_policy": policy}))
        return f"{group.metadata.name} needs {minimum} now"

    def delete_group(self):
        group = self._any(self._world.groups)
        if group is None:
            return None
        self._world.remove(group)
        return f"PodGroup {group.metadata.name} is deleted"

    def recreate_group(self):
        """Bring back an object that some pods name and miss, or replace one that exists."""
        named = [group_name(made) for made in self._world.pods.values() if group_name(made)]
        if not named:
            return None
        name = self._random.choice(named)
        before = self._world.groups.get(name)
        if before is not None:
            self._world.remove(before)
        priority = next(m.spec.priority for m in self._world.pods.values() if group_name(m) == name)
        made = self._world.create(self._successor(before, self._group(name, named.count(name), priority)))
        return f"PodGroup {name} is created anew{_described(made)}"

    def _successor(self, before, group):
        """Return the group that is made in the place of another, which may be None."""
        return group

    def bind_elsewhere(self):
        """Another scheduler puts a pod on a node, whether there is room or not."""
        chosen = self._any(self._world.nodes)
        if chosen is None or len(self._world.pods) >= MOST_PODS:
            return None
        stranger = self._pod(1, on=chosen.metadata.name, scheduler_name="another")
        made = self._world.create(changed(stranger, status={"phase": "Running"}))
        return f"{made.metadata.name} is put on {chosen.metadata.name} by others"

    def change_budget(self):
        """Protect pods from being evicted, or end that; now and then the selector is nonsense."""
        draw = self._random
        name, operator = draw.choice(APPS), draw.choice(("In", "In", "Like"))
        if name in self._world.budgets and draw.random() < 0.3:
            self._world.remove(self._world.budgets[name])
            return f"the budget of {name} is gone"
        whom = LabelSelectorRequirement(key="app", operator=operator, values=(name,))
        allowed = draw.choice((0, 0, 1, 2))
        budget = PodDisruptionBudget(
            metadata=ObjectMeta(name=name, namespace=NAMESPACE),
            spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_expressions=(whom,))),
            status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
        )
        self._world.create(budget)
        return f"of {name} {allowed} may be disrupted now ({operator})"

    # --- nodes -------------------------------------------------------------------------------------------

    def add_node(self):
        if len(self._world.nodes) >= MOST_NODES:
            return None
        self._made += 1
        back = self._random.random() < 0.5 and self._lost_nodes
        name = self._lost_nodes.pop() if back else f"n{self._made}"
        return self._create_node(name)

    def _create_node(self, name):
        cpu, pods = self._random.randint(1, 8), self._random.choice((2, 5, 110))
        labels = self._labels()
        self._world.create(node(name, cpu=str(cpu), memory=None, pods=str(pods), labels=labels))
        return f"node {name} comes with {cpu} CPUs for {pods} pods"

    def _labels(self):
        rack = self._random.choice(RACKS)
        return {"zone": self._random.choice(ZONES)} | ({"rack": rack} if rack is not None else {})

    def move_node(self):
        """Whatever runs on it is somewhere else all of a sudden."""
        chosen = self._any(self._world.nodes)
        if chosen is None:
            return None
        labels = self._labels()
        self._world.put(changed(chosen, metadata={"labels": labels}))
        return f"node {chosen.metadata.name} is in {labels} now"

    def lose_node(self):
        chosen = self._any(self._world.nodes)
        if chosen is None:
            return None
        self._world.remove(chosen)
        self._lost_nodes.append(chosen.metadata.name)
        return f"node {chosen.metadata.name} vanishes"

    def flap_node(self):
        lost = self.lose_node()
        return f"{lost}; {self._create_node(self._lost_nodes.pop())}" if lost else None

    def resize_node(self):
        chosen = self._any(self._world.nodes)
        if chosen is None:
            return None
        cpu = self._random.randint(1, 8)
        offered = {**chosen.status.allocatable, "cpu": str(cpu)}
        self._world.put(changed(chosen, status={"allocatable": offered}))
        return f"node {chosen.metadata.name} has {cpu} CPUs now"

    def cordon(self):
        chosen = self._any(self._world.nodes)
        if chosen is None:
            return None
        closed = not chosen.spec.unschedulable
        self._world.put(changed(chosen, spec={"unschedulable": closed}))
        return f"node {chosen.metadata.name} is {'cordoned' if closed else 'opened'}"

    def _any(self, objects):
        return self._random.choice(list(objects.values())) if objects else None


class Kubelets:
    """What becomes of pods on nodes: they run, finish, end when deleted, and go when their node is gone."""

    def __init__(self, world, random):
        self._world = world
        self._random = random

    def step(self):
        there = [made for made in self._world.pods.values() if made.spec.node_name]
        if not there:
            return ""
        return self._move(self._random.choice(there), may_finish=self._random.random() < 0.3)

    def finish(self):
        """Let everything run and end that is about to."""
        for made in [made for made in self._world.pods.values() if made.spec.node_name]:
            self._move(made)

    def _move(self, made, *, may_finish=False):
        name = made.metadata.name
        if made.metadata.deletion_timestamp or made.spec.node_name not in self._world.nodes:
            self._world.remove(made)
            return f"{name} has gone"
        if made.status.phase == "Pending":
            self._world.put(changed(made, status={"phase": "Running", "start_time": self._world.timestamp()}))
            return f"{name} runs"
        if may_finish and made.status.phase not in FINISHED:
            self._world.put(changed(made, status={"phase": self._random.choice(("Succeeded", "Failed"))}))
            return f"{name} has finished"
        return ""


def _described(made):
    if isinstance(made, Pod):
        gates = ", gated" if made.spec.scheduling_gates else ""
        member = f", member of {group_name(made)}" if group_name(made) else ""
        size = made.spec.containers[0].resources.requests["cpu"]
        return f": {size} CPUs, priority {made.spec.priority}{member}{gates}"
    together = f", in one {topology_key(made)}" if topology_key(made) else ""
    below = f", below {parent_of(made)}" if parent_of(made) else ""
    if isinstance(made, CompositePodGroup):
        return f": needs {group_minimum_of(made)} groups, priority {made.spec.priority}{together}{below}"
    return f": needs {minimum_of(made)}, priority {made.spec.priority}{together}{below}"
