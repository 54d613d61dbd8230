"""The option -o of verbs that show something: a table for people, JSON or YAML for programs."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer
import yaml


class Output(StrEnum):
    table = "table"
    wide = "wide"
    yaml = "yaml"
    json = "json"

    @property
    def is_data(self) -> bool:
        return self in {Output.yaml, Output.json}


OutputOption = Annotated[
    Output,
    typer.Option(
        "--output",
        "-o",
        metavar="FORMAT",
        help="table or wide (more columns) for people, json or yaml for programs.",
    ),
]


def print_data(data: Any, output: Output) -> None:
    typer.echo(as_text(data, output))


def as_text(data: Any, output: Output) -> str:
    if output is Output.json:
        return json.dumps(data, indent=4)
    return yaml.safe_dump(data, sort_keys=False, width=1000).rstrip()
