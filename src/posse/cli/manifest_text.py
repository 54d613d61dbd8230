"""Writes objects as readable YAML: one document each, block style for multi-line texts, no aliases."""

from collections.abc import Iterable
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the name and arguments are the library's
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _text)


def manifest_text(objects: Iterable[Any]) -> str:
    return yaml.dump_all(objects, Dumper=_Dumper, sort_keys=False, width=110, explicit_start=True)
