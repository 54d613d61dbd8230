"""The examples of Posse by name: beside src in a checkout, inside the package in a wheel."""

from pathlib import Path

import posse
from posse.cli.manifests import Manifest, read_manifests
from posse.cli.problems import Misuse


def examples_dir() -> Path:
    package = Path(posse.__file__).parent
    installed = package / "examples"
    return installed if installed.is_dir() else package.parent.parent / "examples"


def example_names() -> list[str]:
    return sorted(path.stem for path in examples_dir().glob("*.yaml"))


def example_path(name: str) -> Path:
    if name not in example_names():
        raise Misuse(f'--example: there is no example "{name}"; there are {", ".join(example_names())}')
    return examples_dir() / f"{name}.yaml"


def read_example(name: str) -> list[Manifest]:
    return read_manifests(str(example_path(name)))
