"""The option --config: which rules the scheduler goes by, read from a file, and what is wrong with the file."""

from pathlib import Path

from posse.cli.problems import Problem
from posse.configuration.problems import ConfigurationError
from posse.engine.engine import EngineOptions
from posse.runtime.configuration import load_configuration


def engine_options(path: Path | None) -> EngineOptions:
    """Without a file, as by default."""
    try:
        return load_configuration(path).options
    except ConfigurationError as error:
        raise unusable(error, path) from error


def unusable(error: ConfigurationError, path: Path | None) -> Problem:
    problems = "".join(f"\n  {line}" for line in str(error).splitlines())
    return Problem(f"--config: {path} cannot be used:{problems}")
