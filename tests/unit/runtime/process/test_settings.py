"""What a running scheduler publishes makes an engine with the same rules."""

from dataclasses import replace

from posse.configuration.reading import Configuration, read_configuration
from posse.model.feature_gates import ALL_GATES, Gate
from posse.runtime.process.settings import (
    SETTINGS_ANNOTATION,
    is_settings,
    options_of,
    settings_of,
    settings_on,
)

DOCUMENT = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "packing"}, {"schedulerName": "spreading"}],
}


def test_a_configuration_comes_back_with_its_profiles_and_gates():
    configuration = read_configuration(DOCUMENT, {})
    gates = ALL_GATES - {Gate.DELAYED_PREEMPTION}
    settings = settings_of(configuration, replace(configuration.options, gates=gates))
    assert is_settings(settings)
    found = options_of(settings)
    assert list(found.profiles) == ["packing", "spreading"]
    assert found.gates == gates


def test_without_a_file_the_names_come_back():
    configuration = Configuration()
    profile = next(iter(configuration.options.profiles.values()))
    options = replace(configuration.options, profiles={"posse": profile, "gangs": profile})
    assert list(options_of(settings_of(configuration, options)).profiles) == ["posse", "gangs"]


def test_gates_that_are_not_known_here_are_left_out():
    assert options_of({"schedulerNames": ["a"], "featureGates": {"FromTheFuture": True}}).gates == frozenset()


def test_pages_of_other_servers_are_not_taken_for_settings():
    assert not is_settings({"kubeapiserver.config.k8s.io": {}})
    assert not is_settings(None)


def test_a_lease_with_an_annotation_that_is_not_json_says_nothing():
    assert settings_on({"metadata": {"annotations": {SETTINGS_ANNOTATION: "{"}}}) is None
    assert settings_on({"metadata": {}}) is None
