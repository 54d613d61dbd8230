"""The option --config: reads the rules of the scheduler from a file and reports what is wrong with it."""

from dataclasses import replace
from pathlib import Path

from posse.cli.problems import Problem
from posse.cli.session import Rules
from posse.configuration.problems import ConfigurationError
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.run_options import DEFAULT_SCHEDULER_NAME


def engine_options(rules: Rules) -> EngineOptions:
    """Without a file or names, use the default names of both `posse up` and `posse run`."""
    try:
        found = load_configuration(rules.config).options
    except ConfigurationError as error:
        raise unusable(error, rules.config) from error
    if rules.config is not None:
        return found
    names = rules.scheduler_names or (DEFAULT_SCHEDULER, DEFAULT_SCHEDULER_NAME)
    return replace(found, profiles=dict.fromkeys(names, found.profiles[DEFAULT_SCHEDULER]))


def unusable(error: ConfigurationError, path: Path | None) -> Problem:
    problems = "".join(f"\n  {line}" for line in str(error).splitlines())
    return Problem(f"--config: {path} cannot be used:{problems}")
