"""The rules of a running scheduler, as it publishes them: under /configz, and on its lease.

Verbs that ask why something waits read them there, so that they answer by the same rules.
"""

import json
from dataclasses import replace
from typing import Any, TypeGuard

from posse.configuration.reading import Configuration, read_configuration
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.model.feature_gates import Gate
from posse.runtime.process.configuration import installed_plugins

Json = dict[str, Any]

SETTINGS_PATH = "/configz"
SETTINGS_ANNOTATION = "scheduling.posse.dev/settings"
"""On the lease of the scheduler that leads, as JSON."""


def settings_of(configuration: Configuration, options: EngineOptions) -> Json:
    return {
        "schedulerNames": list(options.profiles),
        "featureGates": {gate.value: True for gate in sorted(options.gates)},
        "configuration": configuration.document,
    }


def settings_on(lease: Json) -> object:
    """What the lease of a scheduler says; None if that is nothing, or not JSON."""
    annotations = (lease.get("metadata") or {}).get("annotations") or {}
    try:
        return json.loads(annotations.get(SETTINGS_ANNOTATION, "null"))
    except ValueError:
        return None


def is_settings(found: object) -> TypeGuard[Json]:
    """Other servers have other pages under the same path."""
    return isinstance(found, dict) and isinstance(found.get("schedulerNames"), list)


def options_of(settings: Json) -> EngineOptions:
    """Options with the same rules. ConfigurationError: they need plugins that are not installed here."""
    names = {gate.value for gate in Gate}
    gates = frozenset(
        Gate(name) for name, is_on in (settings.get("featureGates") or {}).items() if is_on and name in names
    )
    document = settings.get("configuration")
    if document is not None:
        return replace(read_configuration(document, installed_plugins()).options, gates=gates)
    found = EngineOptions(gates=gates)
    scheduler_names = [str(name) for name in settings["schedulerNames"]]
    return replace(found, profiles=dict.fromkeys(scheduler_names, found.profiles[DEFAULT_SCHEDULER]))
