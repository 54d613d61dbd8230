"""The option --config: reads the rules of the scheduler from a file and reports what is wrong with it."""

from dataclasses import replace
from pathlib import Path

from posse.cli.problems import Problem
from posse.cli.reading.sources import ClusterSource
from posse.cli.session import Rules, warn
from posse.configuration.problems import ConfigurationError
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.run_options import DEFAULT_SCHEDULER_NAME
from posse.runtime.process.settings import options_of


def rules_in_force(rules: Rules, source: ClusterSource) -> EngineOptions:
    """Those that the user chose, else those of the running scheduler, else the default with a warning."""
    if rules.config is not None or rules.scheduler_names:
        return engine_options(rules)
    settings = source.settings()
    if not settings:
        warn(
            "the configuration of the scheduler could not be read, so the default is assumed; "
            "if it has another, pass --config or --scheduler-name"
        )
        return engine_options(rules)
    try:
        found = [options_of(one) for one in settings]
        profiles = {name: profile for one in reversed(found) for name, profile in one.profiles.items()}
        return replace(found[0], profiles=profiles)
    except ConfigurationError as error:
        why = str(error).splitlines()[0]
        warn(f"the configuration of the scheduler cannot be used here, so the default is assumed: {why}")
        return engine_options(rules)


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
