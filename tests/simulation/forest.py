"""What people do to a cluster in which groups have groups as members: trees come in any order, change, fall apart, and go."""

from tests.simulation.knowledge import parent_of
from tests.simulation.workload import GOES_AS_ONE, PRIORITIES, Workload
from tests.support.builders import changed, composite, one_domain


class Forest(Workload):
    def __init__(self, world, random):
        super().__init__(world, random)
        self._steps |= {
            self.plan_tree: 3.0,
            self.delete_composite: 0.3,
            self.recreate_composite: 0.5,
            self.move_group: 0.3,
        }

    def begin(self):
        super().begin()
        for _ in range(self._random.randint(1, 2)):
            self.plan_tree()

    def plan_tree(self):
        """Plan a tree of two or three levels with its pods, in any order; now and then something is wrong."""
        draw = self._random
        self._made += 1
        name, priority = f"t{self._made}", draw.choice(PRIORITIES)
        count = draw.randint(1, 3)
        series = [self._composite(name, count, priority)]
        for _ in range(count):
            series += self._branch(name, priority) if draw.random() < 0.25 else self._leaf(name, priority)
        if draw.random() < 0.7:
            draw.shuffle(series)
        self._coming.append(series)

    def _branch(self, parent, priority):
        self._made += 1
        name, count = f"t{self._made}", self._random.randint(1, 2)
        made = self._composite(name, count, priority, parent)
        return [made, *(one for _ in range(count) for one in self._leaf(name, priority))]

    def _leaf(self, parent, priority):
        self._made += 1
        name, size = f"g{self._made}", self._random.randint(1, 3)
        own = priority + 1 if self._random.random() < 0.03 else priority
        group = _below(parent, self._group(name, size, own))
        return [group, *(self._pod(cpu, group=name, priority=priority) for cpu in self._sizes(size))]

    def _composite(self, name, count, priority, parent=None):
        draw = self._random
        wishes = dict(GOES_AS_ONE) if draw.random() < 0.3 else {}
        if draw.random() < 0.3:
            wishes |= one_domain(draw.choice(("rack", "zone")))
        minimum = draw.choice((None, count, count, max(1, count - 1)))
        return composite(name, minimum, priority=priority, parent_composite_pod_group_name=parent, **wishes)

    def _successor(self, before, group):
        """Most recreated groups keep their parent."""
        keeps = before is not None and parent_of(before) and self._random.random() < 0.8
        return _below(parent_of(before), group) if keeps else group

    def delete_composite(self):
        chosen = self._any(self._world.composites)
        if chosen is None:
            return None
        self._world.remove(chosen)
        return f"CompositePodGroup {chosen.metadata.name} is deleted"

    def recreate_composite(self):
        """Bring back an object that some groups name and miss, or replace one that exists."""
        objects = (*self._world.groups.values(), *self._world.composites.values())
        named = [parent_of(one) for one in objects if parent_of(one)]
        if not named:
            return None
        name = self._random.choice(named)
        before = self._world.composites.get(name)
        if before is not None:
            self._world.remove(before)
        priority = next(one.spec.priority for one in objects if parent_of(one) == name)
        above = parent_of(before) if before is not None else None
        self._world.create(self._composite(name, named.count(name), priority, above or None))
        return f"CompositePodGroup {name} is created anew"

    def move_group(self):
        """Recreate a group below another parent, or below none; sometimes groups are each other's ancestors by that."""
        chosen = self._any({**self._world.groups, **self._world.composites})
        if chosen is None:
            return None
        parent = self._random.choice([None, *self._world.composites])
        self._world.remove(chosen)
        self._world.create(_below(parent, changed(chosen, status={"conditions": ()})))
        return f"{chosen.metadata.name} is made anew below {parent}"


def _below(parent, obj):
    return changed(obj, spec={"parent_composite_pod_group_name": parent})
