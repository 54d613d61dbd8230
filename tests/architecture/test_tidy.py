"""The habits of the house, checked: sizes, names, no leftovers, no clocks or chance where decisions are made."""

import ast
import re
import statistics

import pytest

from posse.cli.verbs import VERBS
from tests.architecture.source_tree import ROOT, SOURCE, all_modules, dotted, length, modules, with_parents

PURE = ("model", "engine", "kinds", "controllers", "configuration", "kubelet")
ENTRY_POINTS = {"posse.__main__", "posse.cli.main", "posse.plugins", "posse.solver.__main__"}
VERB_MODULES = {module for module, _ in VERBS.values()}
ENGINE_ROOT = {
    "keys",
    "proof",
    "invalid_groups",
    "causes",
    "statement",
    "verdict",
    "placement_problem",
    "decisions",
    "events",
    "options",
    "engine",
}
MAX_LINE_LENGTH = 110
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "base", "misc"}
READS_OF_CLOCK_OR_CHANCE = {
    "now",
    "utcnow",
    "today",
    "monotonic",
    "perf_counter",
    "time_ns",
    "urandom",
    "uuid4",
}
OWN_TEXT = ("src", "tests", "bench", "docs", "examples")


@pytest.fixture(scope="module", autouse=True)
def forget_sources():
    """Syntax trees of the whole source take much memory."""
    yield
    all_modules.cache_clear()


def test_files_stay_short():
    too_long = {str(m.path.relative_to(ROOT)): len(m.lines) for m in modules() if len(m.lines) > 500}
    assert too_long == {}


def test_functions_stay_short():
    too_long = [
        f"{module.at(function)} {function.name}: {length(function)} lines"
        for module in modules()
        for function in module.functions
        if length(function) > 60
    ]
    assert too_long == []


def test_most_functions_are_very_short():
    lengths = sorted(length(function) for module in modules() for function in module.functions)
    assert statistics.median(lengths) <= 8
    assert lengths[len(lengths) * 9 // 10] <= 30


def test_every_module_says_what_it_is():
    silent = [module.name for module in modules() if module.lines and not ast.get_docstring(module.tree)]
    assert silent == []


def test_names_say_something():
    vague = [module.name for module in modules() if module.name.rpartition(".")[2] in VAGUE_NAMES]
    assert vague == []


def test_a_class_name_means_one_thing():
    """No public class name exists in two packages, nor in two layers of the engine."""
    places = {}
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, set()).add(module.layer)
    shared = {name for name, where in places.items() if len(where) > 1}
    assert shared == set()


def test_only_root_values_stand_directly_in_the_engine():
    direct = {module.path.stem for module in modules("engine") if module.path.parent.name == "engine"}
    assert direct - {"__init__"} <= ENGINE_ROOT


def test_lines_can_be_read():
    """Also docstrings and comments, which the formatter does not break."""
    long = [
        f"{module.path}:{number}"
        for module in modules()
        for number, line in enumerate(module.lines, 1)
        if len(line) > MAX_LINE_LENGTH
    ]
    assert long == [], f"source lines have at most {MAX_LINE_LENGTH} characters"


def test_nothing_is_left_for_later():
    note = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in OWN_TEXT
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".md", ".yaml", ".toml"}
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if note.search(line)
    ]
    assert left == []


def test_words_are_plain():
    """Pods are things, and have no pronouns of persons. Object names in tests may be anything."""
    odd = re.compile(
        r"\b(whoever|whom|somebody|nobody|anybody|anew|in vain|told so|told of|matters? (more|less))\b",
        re.IGNORECASE,
    )
    texts = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    for folder in ("src", "docs"):
        texts += sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".md", ".txt"})
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in texts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if odd.search(line)
    ]
    assert found == []


def test_every_module_is_used():
    """A module that is neither imported nor started is dead."""
    everything = modules()
    imported = set().union(*(module.imports for module in everything))
    dead = [
        module.name
        for module in everything
        if not module.is_package and module.name not in imported | ENTRY_POINTS | VERB_MODULES
    ]
    assert dead == []


def test_decisions_read_no_clock_and_roll_no_dice():
    reads = [
        f"{module.at(node)} {dotted(node.func)}"
        for module in modules(*PURE)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and (
            dotted(node.func).rpartition(".")[2] in READS_OF_CLOCK_OR_CHANCE
            or dotted(node.func).partition(".")[0] in {"time", "random", "uuid", "secrets", "os"}
        )
    ]
    assert reads == []


def test_decisions_use_no_dice_of_numpy():
    """The import contracts see numpy as a whole, which the engine needs."""
    uses = [module.at(node) for module in modules(*PURE) for node in dice_of_numpy(module.tree)]
    assert uses == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import numpy as np\nnp.random.default_rng().integers(3)", True),
        ("import numpy.random", True),
        ("from numpy import random", True),
        ("from numpy.random import default_rng", True),
        ("import numpy as np\nnp.arange(3)", False),
    ],
)
def test_dice_of_numpy_are_found(source, found):
    assert bool(list(dice_of_numpy(ast.parse(source)))) is found


def dice_of_numpy(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            names = [dotted(node).replace("np.", "numpy.", 1)]
        if any(f"{name}.".startswith("numpy.random.") for name in names):
            yield node


def test_the_engine_makes_sets_only_to_ask_what_is_in_them():
    """The order of a set of strings differs from run to run, so no decision may ever walk through one.

    A set may stand to the right of `in`, or be a frozen constant of the module, which is never walked through.
    """
    wrong = [
        f"{module.at(node)} {what}"
        for module in modules("engine")
        for node, what in misused_sets(module.tree)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "misused"),
    [
        ("if x in {'a', 'b'}: pass", False),
        ("KNOWN = frozenset({'a'})\nif x not in KNOWN: pass", False),
        ("for x in {'a', 'b'}: pass", True),
        ("chosen = list(set(names))", True),
        ("def f():\n    seen = set()", True),
        ("KNOWN = frozenset({'a'})\nfor x in KNOWN: pass", True),
        ("KNOWN = frozenset({'a'})\nchosen = [*KNOWN]", True),
        ("chosen = {x for x in names}", True),
    ],
)
def test_misused_sets_are_found(source, misused):
    assert bool(list(misused_sets(ast.parse(source)))) is misused


def misused_sets(tree):
    constants = frozen_constants(tree)
    for node, parent in with_parents(tree):
        if is_set(node) and not is_asked(node, parent) and id(node) not in constants.values():
            yield node, "makes a set"
        for walked in walked_through(node):
            if isinstance(walked, ast.Name) and walked.id in constants:
                yield walked, f"walks through {walked.id}"


def is_set(node):
    return isinstance(node, ast.Set | ast.SetComp) or (
        isinstance(node, ast.Call) and dotted(node.func) in {"set", "frozenset"}
    )


def is_asked(node, parent):
    """Tell whether the set is only tested for membership, or is inside a frozenset(...) that is judged itself."""
    if isinstance(parent, ast.Call):
        return is_set(parent)
    return isinstance(parent, ast.Compare) and all(isinstance(op, ast.In | ast.NotIn) for op in parent.ops)


def frozen_constants(tree):
    return {
        target.id: id(statement.value)
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and dotted(statement.value.func) == "frozenset"
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def walked_through(node):
    if isinstance(node, ast.For | ast.comprehension):
        yield node.iter
    elif isinstance(node, ast.Call) and dotted(node.func) in {
        "list",
        "tuple",
        "iter",
        "enumerate",
        "zip",
        "map",
    }:
        yield from node.args
    elif isinstance(node, ast.Starred):
        yield node.value


def test_groups_and_trees_are_seldom_told_apart():
    """They answer the same questions; `Part` and `Root` say which."""
    kinds = {"Tree", "Branch", "GroupRecord", "CompositeRecord"}
    checks = [
        module.at(node)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and dotted(node.func) == "isinstance"
        if kinds & {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
    ]
    assert len(checks) <= 5, checks


def test_the_rules_above_look_at_something():
    assert len(modules("engine")) > 20
    assert (SOURCE / "posse" / "engine").is_dir()


def test_the_engine_does_not_read_its_own_messages():
    """Verdicts are data: only the modules that make messages may look into one."""
    readers = [
        module.at(node)
        for module in modules()
        if module.name.startswith("posse.engine.") and not module.name.endswith("messages")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and hasattr(str, node.func.attr)
        if isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "message"
    ]
    assert readers == []
