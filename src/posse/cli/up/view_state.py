"""What the user chose in the live view by key: scrolling, sorting, filtering."""

from dataclasses import dataclass, replace

from posse.engine.explain.overview import GroupSummary

SORTS = ("waiting first", "name", "priority", "pods")
HELP = "up/down scroll   s sort: {sort}   / filter{filter}   q clears it   Ctrl-C stops"
_BACKSPACE = ("\x7f", "\b")
_UP, _DOWN, _PAGE_UP, _PAGE_DOWN = "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~"
_STEPS = {_UP: -1, "k": -1, _DOWN: 1, "j": 1, _PAGE_UP: -10, _PAGE_DOWN: 10, " ": 10}


@dataclass(frozen=True, slots=True)
class ViewState:
    first: int = 0
    """The first tree that is shown."""
    sort: int = 0
    """Index in SORTS."""
    filter: str = ""
    """Only trees with this text in a name or state."""
    is_typing: bool = False
    """Keys are added to the filter."""

    def pressed(self, key: str) -> "ViewState":
        if self.is_typing:
            return self._typed(key)
        if key in _STEPS:
            return replace(self, first=max(0, self.first + _STEPS[key]))
        if key == "s":
            return replace(self, sort=(self.sort + 1) % len(SORTS), first=0)
        if key == "/":
            return replace(self, is_typing=True, filter="", first=0)
        return ViewState(sort=self.sort) if key == "q" else self

    def _typed(self, key: str) -> "ViewState":
        if key in {"\r", "\n"}:
            return replace(self, is_typing=False)
        if key == "\x1b":
            return replace(self, is_typing=False, filter="")
        if key in _BACKSPACE:
            return replace(self, filter=self.filter[:-1])
        return replace(self, filter=self.filter + key) if key.isprintable() else self

    @property
    def help(self) -> str:
        typed = f": {self.filter}{'_' if self.is_typing else ''}" if self.filter or self.is_typing else ""
        return HELP.format(sort=SORTS[self.sort], filter=typed)


Tree = tuple[GroupSummary, ...]
"""A root and the groups below it."""


def trees_shown(groups: tuple[GroupSummary, ...], view: ViewState) -> list[Tree]:
    """Trees in the chosen order, those before the first left out; groups of a tree stay together."""
    trees: list[list[GroupSummary]] = []
    for group in groups:
        if group.depth and trees:
            trees[-1].append(group)
        else:
            trees.append([group])
    wanted = view.filter.lower()
    found = [tuple(tree) for tree in trees if any(_has(group, wanted) for group in tree)]
    found.sort(key=lambda tree: _order(tree, SORTS[view.sort]))
    return found[min(view.first, max(0, len(found) - 1)) :]


def _has(group: GroupSummary, text: str) -> bool:
    return text in str(group.key).lower() or text in group.state.lower()


def _order(tree: Tree, sort: str) -> tuple[int, str]:
    root, name = tree[0], str(tree[0].key)
    match sort:
        case "priority":
            return -root.priority, name
        case "pods":
            return -sum(group.members for group in tree if not group.key.is_composite), name
        case "name":
            return 0, name
        case _:
            return int(all(group.state in {"Scheduled", "Finished"} for group in tree)), name
