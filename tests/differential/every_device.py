"""A slow allocator that tries everything: every node for every pod, and every device for every request."""

from dataclasses import dataclass
from itertools import combinations, product


@dataclass(frozen=True)
class Item:
    """A device. Without a node, every node reaches it."""

    pool: str
    name: str
    node: str = ""
    size: int = 1
    numa: int = 0
    units: int = 0
    """What it takes of the counter of its pool."""
    memory: int | None = None
    """Set for a device that claims share: its capacity."""

    @property
    def path(self):
        return f"{self.pool}/{self.name}"


@dataclass(frozen=True)
class Ask:
    """So many devices of at least a size, all of one numa domain if they are to match."""

    count: int = 1
    size: int = 1
    memory: int = 0


@dataclass(frozen=True)
class AskedClaim:
    name: str
    alternatives: tuple[Ask, ...] = (Ask(),)
    matches: bool = False


@dataclass(frozen=True)
class AskingPod:
    name: str
    claims: tuple[str, ...]
    cpu: int = 1


@dataclass
class World:
    cpu: dict[str, int]
    items: list[Item]
    units: dict[str, int]
    """The counter of each pool."""
    claims: dict[str, AskedClaim]
    pods: list[AskingPod]
    has_own_claims: bool = False
    """Whether claims that one pod alone names were made for it."""

    def owner(self, claim):
        """The pod that the claim was made for, if any."""
        users = [pod.name for pod in self.pods if claim in pod.claims]
        return users[0] if self.has_own_claims and len(users) == 1 else ""

    def can_start(self, pods):
        """Whether all of these pods can run at once."""
        for nodes in product(self.cpu, repeat=len(pods)):
            places = dict(zip((pod.name for pod in pods), nodes, strict=True))
            if self.has_cpu(pods, places) and self._has_devices(pods, places):
                return True
        return False

    def has_cpu(self, pods, places):
        used = dict.fromkeys(self.cpu, 0)
        for pod in pods:
            used[places[pod.name]] += pod.cpu
        return all(used[node] <= self.cpu[node] for node in used)

    def _has_devices(self, pods, places):
        names = list(dict.fromkeys(name for pod in pods for name in pod.claims))
        users = {name: {places[pod.name] for pod in pods if name in pod.claims} for name in names}
        choices = [list(self._choices(self.claims[name], users[name])) for name in names]
        return any(self.is_valid(dict(zip(names, chosen, strict=True))) for chosen in product(*choices))

    def _choices(self, claim, nodes):
        for ask in claim.alternatives:
            usable = [one for one in self.items if self.serves(one, ask, nodes)]
            for chosen in combinations(usable, ask.count):
                if not claim.matches or len({one.numa for one in chosen}) == 1:
                    yield ask, chosen

    def serves(self, item, ask, nodes):
        reaches = not item.node or nodes == {item.node}
        return (
            reaches
            and item.size >= ask.size
            and (item.memory if item.memory is not None else 1) >= ask.memory
        )

    def is_valid(self, chosen):
        """Whether no device is given twice, and no counter or capacity is exceeded."""
        uses = {}
        for ask, items in chosen.values():
            for item in items:
                uses.setdefault(item, []).append(ask)
        for item, asks in uses.items():
            if item.memory is None and len(asks) > 1:
                return False
            if item.memory is not None and sum(ask.memory or item.memory for ask in asks) > item.memory:
                return False
        taken = dict.fromkeys(self.units, 0)
        for item in uses:
            taken[item.pool] = taken.get(item.pool, 0) + item.units
        return all(taken[pool] <= self.units[pool] for pool in self.units)

    def check(self, places, allocations):
        """Assert that what the scheduler decided is possible. Allocations are devices by claim."""
        pods = [pod for pod in self.pods if pod.name in places]
        assert self.has_cpu(pods, places)
        items = {item.path: item for item in self.items}
        chosen = {}
        for pod in pods:
            for name in pod.claims:
                given = tuple(items[path] for path in allocations[name])
                nodes = {places[other.name] for other in pods if name in other.claims}
                asks = [
                    ask
                    for ask in self.claims[name].alternatives
                    if len(given) == ask.count and all(self.serves(one, ask, nodes) for one in given)
                ]
                assert asks, f"{name} got {allocations[name]} on {nodes}"
                assert len(set(given)) == len(given)
                if self.claims[name].matches:
                    assert len({one.numa for one in given}) == 1
                chosen[name] = [(ask, given) for ask in asks]
        # Several alternatives may have come to the same devices.
        ways = (dict(zip(chosen, way, strict=True)) for way in product(*chosen.values()))
        assert any(map(self.is_valid, ways)), f"devices or counters are given twice: {allocations}"
