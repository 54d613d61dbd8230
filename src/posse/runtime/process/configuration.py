"""Finds what configures the scheduler: a file, and plugins that installed packages offer for it."""

import json
import logging
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import yaml

from posse.configuration.outside import PluginLoader
from posse.configuration.problems import ConfigurationError, ConfigurationProblem
from posse.configuration.reading import Configuration, read_configuration

log = logging.getLogger(__name__)

PLUGIN_GROUP = "posse.rules"


def load_configuration(path: Path | None, *, is_embedded: bool = True) -> Configuration:
    """Without a file, everything is as by default. ConfigurationError: the file cannot be used."""
    if path is None:
        return Configuration()
    configuration = read_configuration(_document(path), installed_plugins())
    for notice in (*configuration.notices, *(configuration.embedded_notices if is_embedded else ())):
        log.warning("%s: %s", path, notice)
    return configuration


def installed_plugins() -> dict[str, PluginLoader]:
    """By name. They are loaded only when a profile uses them."""
    offers: dict[str, list[EntryPoint]] = {}
    for entry_point in entry_points(group=PLUGIN_GROUP):
        offers.setdefault(entry_point.name, []).append(entry_point)
    return {name: _loader(offered) for name, offered in sorted(offers.items())}


def _loader(offered: list[EntryPoint]) -> PluginLoader:
    def load() -> object:
        if len(offered) > 1:
            places = ", ".join(sorted(entry_point.value for entry_point in offered))
            raise LookupError(f"several installed packages offer it ({places}); keep one")
        return offered[0].load()

    return load


def _document(path: Path) -> Any:
    try:
        document = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
        # YAML can say what no configuration can mean: sets, bytes, objects that contain themselves.
        json.dumps(document, allow_nan=False)
    except OSError as error:
        raise _unreadable((error.strerror or str(error)).lower()) from error
    except yaml.YAMLError as error:
        raise _unreadable(f"not valid YAML: {_where_and_what(path, error)}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise _unreadable(f"not plain YAML in UTF-8: {error}") from error
    return document


def _where_and_what(path: Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"{path}:{mark.line + 1}:{mark.column + 1}: " if mark else ""
    return f"{where}{str(getattr(error, 'problem', None) or error).splitlines()[0]}"


def _unreadable(reason: str) -> ConfigurationError:
    return ConfigurationError([ConfigurationProblem("", reason)])
