"""Whether any waiting job may fit: by free GPUs alone, which is quicker than asking the engine.

What does not fit by GPUs does not fit at all. So the engine need not be asked after an event that leaves
too few for every job that waits.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from posse.model.node import Node
from posse.simulation.jobs import GPU, TracedJob


class Room:
    def __init__(self, nodes: Sequence[Node]) -> None:
        self._free = {node.metadata.name: int(node.status.allocatable.get(GPU, 0)) for node in nodes}
        self._nodes = Counter(self._free.values())
        """Number of nodes with so many free GPUs."""
        self._waiting: Counter[tuple[int, int]] = Counter()
        """Jobs that wait, by their pods and the GPUs of each."""

    def wait(self, job: TracedJob) -> None:
        self._waiting[job.pods, job.gpus_per_pod] += 1

    def start(self, job: TracedJob, nodes: Iterable[str]) -> None:
        shape = (job.pods, job.gpus_per_pod)
        self._waiting[shape] -= 1
        if not self._waiting[shape]:
            del self._waiting[shape]
        self._move(nodes, -job.gpus_per_pod)

    def end(self, job: TracedJob, nodes: Iterable[str]) -> None:
        self._move(nodes, job.gpus_per_pod)

    def _move(self, nodes: Iterable[str], gpus: int) -> None:
        for name in nodes:
            before = self._free[name]
            self._free[name] = before + gpus
            self._nodes[before] -= 1
            self._nodes[before + gpus] += 1

    def may_fit(self) -> bool:
        """Whether any job that waits has enough nodes with enough free GPUs."""
        return any(self._has_places(*shape) for shape in self._waiting)

    def _has_places(self, pods: int, gpus: int) -> bool:
        if not gpus:
            return True
        return sum(number * (free // gpus) for free, number in self._nodes.items()) >= pods


def is_decided_by_room(jobs: Sequence[TracedJob]) -> bool:
    """Whether nothing but free capacity lets one of these start: there is nothing to preempt for."""
    return all(job.objects is None and job.priority == jobs[0].priority for job in jobs)
