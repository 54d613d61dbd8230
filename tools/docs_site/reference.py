"""Pages of the reference, made from the code: command line, configuration, names, events, metrics, gates."""

import ast
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
import typer.main
from typer.core import TyperArgument, TyperGroup

from posse.cli.verbs import command_line
from posse.configuration.shapes import ConfigurationShape
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.model.feature_gates import NEEDS, Gate
from posse.runtime.scheduling.metrics import Metrics
from tools.sbom import ROOT

SOURCE = ROOT / "src" / "posse"
_MARKUP = re.compile(r"\[/?bold\]")
_OWN_NAME = re.compile(r"^[\w.-]*posse\.dev/[a-z][\w.-]*$")
_CONDITION = re.compile(r"^(scheduling\.posse\.dev/)?[A-Z][A-Za-z]+$")
_CONDITION_MODULES = ("engine/groups/forms.py",)


def reference_pages() -> Mapping[str, str]:
    """The text of each page, by file name."""
    return {
        "cli.md": _page("Command line", _command_line()),
        "configuration.md": _page("Configuration", _configuration()),
        "names.md": _page("Annotations, labels and conditions", _names()),
        "metrics.md": _page("Metrics", _metrics()),
        "feature-gates.md": _page("Feature gates", _gates()),
        "events.md": _page("Events", _events()),
    }


def _page(title: str, lines: Iterator[str]) -> str:
    return "\n".join([f"# {title}", "", "Made from the code of this release.", "", *lines, ""])


def _command_line() -> Iterator[str]:
    group = typer.main.get_command(command_line([]))
    if not isinstance(group, TyperGroup):
        raise TypeError("the command has no verbs")
    for name, command in sorted(group.commands.items()):
        yield from ["", f"## posse {name}", "", _plain(command.help or ""), ""]
        if command.params:
            yield from ["| option | meaning |", "|---|---|"]
        for option in command.params:
            words = (
                [option.metavar or option.name or ""]
                if isinstance(option, TyperArgument)
                else [*option.opts, *option.secondary_opts]
            )
            shown = ", ".join(f"`{word}`" for word in words)
            yield f"| {shown} | {_cell(_plain(getattr(option, 'help', '') or ''))} |"


def _plain(text: str) -> str:
    """Help without markup of the terminal; examples as code."""
    told, _, examples = _MARKUP.sub("**", text).partition("**Examples**")
    code = "".join(f"    {line.strip()}\n" for line in examples.splitlines() if line.strip())
    lines = "\n".join(line.strip() for line in told.splitlines())
    return f"{lines}\n\n{code}" if code else lines


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _configuration() -> Iterator[str]:
    yield "A KubeSchedulerConfiguration, as `posse up --config` and `posse run --config` read it."
    for struct in _structs(ConfigurationShape):
        yield from ["", f"## {struct.__name__}", "", (struct.__doc__ or "").strip().partition("\n")[0], ""]
        yield from ["| field | type | default |", "|---|---|---|"]
        for field in msgspec.structs.fields(struct):
            default = "" if field.default is msgspec.NODEFAULT else f"`{field.default!r}`"
            yield f"| `{field.encode_name}` | {_cell(_type_text(field.type))} | {_cell(default)} |"


def _structs(struct: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """The struct and all that its fields hold, each once."""
    found: dict[type[msgspec.Struct], None] = {}
    ahead = [struct]
    while ahead:
        one = ahead.pop(0)
        if one not in found:
            found[one] = None
            ahead += [held for field in msgspec.structs.fields(one) for held in _held(field.type)]
    return iter(found)


def _held(kind: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from _held(part)


def _type_text(kind: Any) -> str:
    parts = [part for part in get_args(kind) if part is not Ellipsis]
    if get_origin(kind) is tuple:
        return f"list of {_type_text(parts[0])}"
    if get_origin(kind) is dict:
        return f"map of {_type_text(parts[1])}"
    if parts:
        texts = [_type_text(part) for part in parts if isinstance(part, type) and part is not type(None)]
        return " or ".join(dict.fromkeys(texts)) or "any"
    return str(getattr(kind, "__name__", kind))


def _names() -> Iterator[str]:
    yield from ["## Annotations and labels", "", "| name | meaning | defined in |", "|---|---|---|"]
    names: dict[str, tuple[str, Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        names |= {
            value: (about, path.relative_to(SOURCE))
            for value, about in _constants(path)
            if _OWN_NAME.match(value) and not value.endswith(("/v1alpha1", "/v1beta1"))
        }
    for name, (about, path) in sorted(names.items()):
        yield f"| `{name}` | {_cell(about)} | `{path}` |"
    yield from ["", "## Conditions of groups", "", "| type | meaning |", "|---|---|"]
    for module in _CONDITION_MODULES:
        for value, about in _constants(SOURCE / module):
            if _CONDITION.match(value) and value != "Unschedulable":
                yield f"| `{value}` | {_cell(about)} |"


def _constants(path: Path) -> Iterator[tuple[str, str]]:
    """Strings with a name in a module, with the text below them."""
    body = ast.parse(path.read_text()).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        if isinstance(node.value.value, str):
            text = after.value if isinstance(after, ast.Expr) else None
            about = text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
            yield node.value.value, about


def _metrics() -> Iterator[str]:
    yield from [
        "Served under `/metrics`; [watching decisions](../guides/watching-decisions.md) tells how to use them.",
        "",
    ]
    yield from ["| metric | type | meaning |", "|---|---|---|"]
    text = Metrics(Engine(EngineOptions()).statistics, time.time).page("text/plain")[0].decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)", text, re.MULTILINE))
    for name, about in sorted(re.findall(r"^# HELP (\S+) (.*)", text, re.MULTILINE)):
        yield f"| `{name}` | {kinds.get(name, '')} | {_cell(about)} |"


def _gates() -> Iterator[str]:
    yield from [
        "All are on unless switched off by `--feature-gates`; [guide](../guides/feature-gates.md).",
        "",
    ]
    yield from ["| gate | needs |", "|---|---|"]
    for gate in Gate:
        yield f"| `{gate}` | {', '.join(f'`{one}`' for one in NEEDS.get(gate, ()))} |"


def _events() -> Iterator[str]:
    """The tables of the guide, which a test compares with the code."""
    guide = (ROOT / "docs" / "guides" / "watching-decisions.md").read_text()
    for table in re.findall(r"((?:^\|.*\n)+)", guide, re.MULTILINE):
        if re.match(r"\| (reason|about) \|", table):
            yield from ["", table.replace("](", "](../guides/")]
