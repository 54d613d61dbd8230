"""A draft rolled back leaves the state as it was, to the last bit, whatever was tried in it."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.placement.search.fill import fill
from posse.engine.state.draft import Draft
from tests.differential.strategies import clusters, neighbours, pod_named, sized_pods
from tests.support.engine_parts import attached, records_of, state_of

trials = st.lists(
    st.one_of(
        st.tuples(st.just("fill"), st.integers(0, 2), st.integers(1, 5)),
        st.tuples(st.just("remove"), st.integers(0, 20)),
        st.tuples(st.just("put back"), st.integers(0, 20)),
        st.just(("checkpoint",)),
        st.tuples(st.just("roll back"), st.integers(0, 20)),
    ),
    max_size=12,
)


class Trial:
    """A draft in which things are tried, with a picture taken at every checkpoint."""

    def __init__(self, state, there, batches):
        self.state = state
        self.batches = batches
        self.records = [*there, *(record for batch in batches for record in batch)]
        self.draft = Draft(state)
        self.removed = []
        self.checkpoints = [(0, self.picture())]

    def picture(self):
        """Return all that can be seen of the state, as plain values."""
        table = self.state.nodes
        return {
            "requested": table.requested.tolist(),
            "by priority": {
                priority: self.state.usage.requested(priority).tolist()
                for priority in self.state.usage.priorities()
                if self.state.usage.requested(priority).any()
            },
            "scoring": table.scoring_requested.tolist(),
            "allocatable": table.allocatable.tolist(),
            "alive": table.alive.tolist(),
            "rows": dict(table.row_of),
            "turn": self.state.turn,
            "pods on": {name: set(pods) for name, pods in self.state._pods_on.items()},
            "nodes": [record.node for record in self.records],
            "ranks": [
                self.state.scores(self.state.scheduling_class(batch[0])).totals().tolist()
                for batch in self.batches
            ],
        }

    def run(self, step):
        match step:
            case "fill", which, count:
                batch = self.batches[which % len(self.batches)]
                waiting = [record for record in batch if not record.node][:count]
                fill(self.state, self.draft, self.state.scheduling_class(batch[0]), waiting)
            case "remove", which:
                there = [record for record in self.records if record.node]
                if there:
                    self.remove(there[which % len(there)])
            case "put back", which:
                removed = [record for record in self.removed if not record.node]
                if removed:
                    self.draft.put_back([removed[which % len(removed)]])
            case ("checkpoint",):
                self.checkpoints.append((self.draft.checkpoint(), self.picture()))
            case "roll back", which:
                self.roll_back(which % len(self.checkpoints))

    def remove(self, record):
        self.draft.remove([record])
        self.removed = [*(other for other in self.removed if other is not record), record]

    def roll_back(self, which):
        checkpoint, before = self.checkpoints[which]
        self.draft.roll_back(checkpoint)
        assert self.picture() == before
        del self.checkpoints[which + 1 :]


@given(
    clusters(plain=True, least=1),
    neighbours(),
    st.integers(0, 5),
    st.lists(sized_pods(), min_size=1, max_size=3),
    trials,
)
def test_a_rolled_back_draft_leaves_no_trace(nodes, there, turn, kinds, steps):
    state = state_of(*nodes)
    state.turn = turn
    trial = Trial(
        state,
        [attached(state, neighbour, name) for neighbour, name in there],
        [
            records_of(state, [pod_named(kind, f"{which}-{i}") for i in range(8)])
            for which, kind in enumerate(kinds)
        ],
    )
    for step in steps:
        trial.run(step)
    trial.roll_back(0)
