"""One kind as a scheduler process sees it: a list, then a watch that may lag, repeat itself or break.

The changes of a kind arrive in their order; how far each kind has come is another matter. After a break the next list
shows whatever was missed, as `posse.runtime.watching.informers` does it.
"""

from posse.engine.events import Observed, Vanished
from tests.simulation.world import Change


class Watch:
    def __init__(self, world, kind, tell):
        self._world = world
        self._kind = kind
        self._tell = tell
        self._known = {}
        self._position = 0
        self._last = None

    @property
    def lag(self):
        return len(self._world.log[self._kind]) - self._position

    def list(self):
        """Tell everything there is now, and what has gone since the last time."""
        present = self._world.objects[self._kind]
        # What was told before is behind the list; it is not told again.
        self._last = None
        for name in [name for name in self._known if name not in present]:
            self._tell(Vanished(self._known.pop(name)))
        for obj in present.values():
            self._show(Change(obj, is_gone=False))
        self._position = len(self._world.log[self._kind])

    def advance(self):
        """Tell the next change; return it."""
        change = self._world.log[self._kind][self._position]
        self._position += 1
        self._show(change)
        return change

    def repeat(self):
        """Tell the last change once more; no object ever goes back in time by that."""
        if self._last is not None:
            self._show(self._last)
        return self._last

    def _show(self, change):
        self._last = change
        name = change.obj.metadata.name
        previous = self._known.pop(name, None)
        if change.is_gone:
            self._tell(Vanished(change.obj))
            return
        if previous is not None and previous.metadata.uid != change.obj.metadata.uid:
            self._tell(Vanished(previous))
        self._known[name] = change.obj
        self._tell(Observed(change.obj))
