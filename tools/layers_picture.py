"""Draw docs/images/layers.svg: the packages of Posse and the layers of its engine.

Order comes from the import contracts in pyproject.toml and captions from the package docstrings, so the
picture cannot differ from what `make check` enforces. A test compares the file with what would be drawn.
"""

import ast
import html
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
PICTURE = ROOT / "docs" / "images" / "layers.svg"
ROW, GAP, LEFT, WIDTH, NAME_WIDTH = 26, 4, 20, 940, 190
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .name { font-family: ui-monospace, monospace; font-weight: 600 }
  .title { font-size: 15px; font-weight: 600 }
  .layer { fill: #ddf4ff; stroke: #54aeff }
  .value { fill: #f6f8fa; stroke: #d0d7de }
  .ground { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .layer { fill: #0c2d4a; stroke: #1f6feb }
    .value { fill: #161b22; stroke: #30363d } .ground { fill: #0d1117 }
  }
"""


class Layer(NamedTuple):
    name: str
    caption: str
    is_folder: bool


def layers_of(container: str) -> list[Layer]:
    """Return the layers of a container, the highest first, as its contract orders them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one.get("containers") == [container])
    names = [name.strip() for row in contract["layers"] for name in row.split("|")]
    return [_layer(container, name) for name in names]


def _layer(container: str, name: str) -> Layer:
    path = SOURCE.joinpath(*container.split("."), name)
    is_folder = path.is_dir()
    file = path / "__init__.py" if is_folder else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(file.read_text())) or ""
    return Layer(name, docstring.splitlines()[0], is_folder)


def drawn() -> str:
    parts: list[str] = []
    below = 20
    titles = {
        "posse": "Packages: each imports only packages below it",
        "posse.engine": "Layers of the engine: each imports only layers below it",
    }
    for container, title in titles.items():
        below += 20
        parts.append(_text(LEFT, below, title, "title"))
        below += 10
        for layer in layers_of(container):
            parts.append(_box(layer, below))
            below += ROW + GAP
        below += 16
    size = f'width="{WIDTH}" height="{below}" viewBox="0 0 {WIDTH} {below}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    ground = f'<rect class="ground" width="{WIDTH}" height="{below}"/>'
    title = "<title>The packages of Posse and the layers of its engine</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", ground, *parts, "</svg>", ""])


def _box(layer: Layer, top: int) -> str:
    kind = "layer" if layer.is_folder else "value"
    size = f'x="{LEFT}" y="{top}" width="{WIDTH - 2 * LEFT}" height="{ROW}" rx="4"'
    baseline = top + 17
    return (
        f'<rect class="{kind}" {size}/>'
        f"{_text(LEFT + 10, baseline, layer.name, 'name')}"
        f"{_text(LEFT + NAME_WIDTH, baseline, layer.caption.replace('`', ''), 'caption')}"
    )


def _text(x: int, y: int, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{html.escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn())
    print(f"wrote {PICTURE.relative_to(ROOT)}")
