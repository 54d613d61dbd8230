"""The source read as text and syntax trees, for tests that judge its shape."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@dataclass(frozen=True)
class Module:
    path: Path

    @property
    def name(self):
        """The dotted name; a package is named by its folder."""
        parts = self.path.relative_to(SOURCE).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def is_package(self):
        return self.path.name == "__init__.py"

    @property
    def package(self):
        """The part of Posse it belongs to, such as `engine`; empty at the top."""
        parts = self.path.relative_to(SOURCE / "posse").parts
        return parts[0] if len(parts) > 1 else ""

    @property
    def layer(self):
        """The package, or inside of the engine its layer, such as `engine.queue`."""
        parts = self.name.split(".")[1:]
        return ".".join(parts[:2] if parts[:1] == ["engine"] and len(parts) > 2 else parts[:1])

    @cached_property
    def lines(self):
        return self.path.read_text().splitlines()

    @cached_property
    def tree(self):
        return ast.parse(self.path.read_text())

    @cached_property
    def functions(self):
        return [
            node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    @cached_property
    def imports(self):
        """Every dotted name that an import statement of this module could mean."""
        names = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return names

    def at(self, node):
        return f"{self.path.relative_to(ROOT)}:{node.lineno}"


@cache
def all_modules():
    """Return all modules of Posse; each is read once for all tests."""
    return [Module(path) for path in sorted((SOURCE / "posse").rglob("*.py"))]


def modules(*packages):
    """Return all modules of Posse, or of some of its packages."""
    return [module for module in all_modules() if not packages or module.package in packages]


def length(function):
    """Return how many lines the function has, its docstring left out."""
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def dotted(node):
    """Return `a.b.c` for an attribute chain or a name, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def with_parents(tree):
    """Yield every node with its parent."""
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            yield child, parent
