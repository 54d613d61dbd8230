"""Terse makers of scheduler configurations for tests, and what came of them as plain values."""

from posse.configuration.problems import ConfigurationError
from posse.configuration.reading import read_configuration

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def document(*profiles, **fields):
    return HEAD | ({"profiles": list(profiles)} if profiles else {}) | fields


def enabled(*names, **weighted):
    return {
        "enabled": [
            *({"name": name} for name in names),
            *({"name": name, "weight": weight} for name, weight in weighted.items()),
        ]
    }


def disabled(*names):
    return {"disabled": [{"name": name} for name in names]}


def configured(plugin, **args):
    """A profile that gives one plugin these arguments."""
    return {"pluginConfig": [{"name": plugin, "args": args}]}


def read(*profiles, plugins=None, **fields):
    return read_configuration(document(*profiles, **fields), plugins or {})


def options(*profiles, plugins=None, **fields):
    return read(*profiles, plugins=plugins, **fields).options


def profile(shape, plugins=None):
    """The only profile of a file."""
    (only,) = options(shape, plugins=plugins).profiles.values()
    return only


def problems(*profiles, plugins=None, **fields):
    """Paths and messages of everything that is wrong."""
    try:
        read(*profiles, plugins=plugins, **fields)
    except ConfigurationError as error:
        return {one.path: "; ".join(filter(None, (one.message, one.advice))) for one in error.problems}
    return {}


def filters(made):
    return [rule.name for rule in made.filters]


def scores(made):
    rules = (*made.row_scores, *made.relative_scores, *made.cluster_scores)
    return {rule.name: rule.weight for rule in rules}
