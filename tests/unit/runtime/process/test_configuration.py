import asyncio
import logging
import sys

import pytest
import yaml

from posse.configuration.problems import ConfigurationError
from posse.engine.queue.backlog import USUAL_BACKOFF
from posse.kinds.registry import POD
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.configuration import installed_plugins, load_configuration
from posse.runtime.process.options import ClusterOptions
from tests.support.configurations import disabled, document, enabled

RULE = """
from posse.engine.rules.contract import GroupRule


class Never(GroupRule):
    name = "Never"

    def __init__(self, arguments):
        pass

    def objection(self, placement, scene):
        return "never"
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a package that offers plugins where Python finds it, as pip would."""

    def installed(package, *entry_points):
        site = tmp_path / "site"
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{package}.py").write_text(RULE)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {package}:Never" for name in entry_points]
        (info / "entry_points.txt").write_text("\n".join(["[posse.rules]", *lines, ""]))
        monkeypatch.syspath_prepend(str(site))

    yield installed
    for name in ("never_plugin", "other_plugin"):
        sys.modules.pop(name, None)


def written(directory, content):
    path = directory / "scheduler.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def refused(path):
    with pytest.raises(ConfigurationError) as error:
        load_configuration(path)
    return str(error.value)


def test_without_a_file_there_is_the_default_scheduler():
    options = load_configuration(None).options
    assert list(options.profiles) == ["default-scheduler"]
    assert options.backoff == USUAL_BACKOFF


def test_a_file_decides(tmp_path):
    path = written(tmp_path, document({"schedulerName": "mine"}))
    assert list(load_configuration(path).options.profiles) == ["mine"]


def test_what_has_no_effect_is_logged(tmp_path, caplog):
    path = written(tmp_path, document(percentageOfNodesToScore=30))
    with caplog.at_level(logging.WARNING):
        load_configuration(path)
    assert caplog.messages == [
        f"{path}: percentageOfNodesToScore: without effect; Posse always scores all nodes"
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("a: [", "not valid YAML: "),
        ("&a [*a]", "not plain YAML in UTF-8: "),
        ("a: .inf", "not plain YAML in UTF-8: "),
        ("", "expected a KubeSchedulerConfiguration"),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path, content, complaint):
    assert refused(written(tmp_path, content)).startswith(complaint)


def test_the_place_of_what_is_no_yaml_is_named(tmp_path):
    path = written(tmp_path, "a: b\n---\na: b")
    assert refused(path) == f"not valid YAML: {path}:2:1: but found another document"


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert refused(tmp_path / "nowhere.yaml") == "no such file or directory"


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe\x00")
    assert refused(path).startswith("not plain YAML in UTF-8: ")


def test_plugins_of_installed_packages_are_found(install, tmp_path):
    install("never_plugin", "Never")
    path = written(tmp_path, document({"plugins": {"multiPoint": enabled("Never")}}))
    (profile,) = load_configuration(path).options.profiles.values()
    assert [rule.name for rule in profile.group_rules] == ["Never"]


def test_a_plugin_that_two_packages_offer_is_refused(install, tmp_path):
    install("never_plugin", "Never")
    install("other_plugin", "Never")
    assert "Never" in installed_plugins()
    path = written(tmp_path, document({"plugins": {"multiPoint": enabled("Never")}}))
    assert refused(path) == (
        "profiles[0].plugins: plugin Never cannot be loaded: LookupError: several installed packages offer it "
        "(never_plugin:Never, other_plugin:Never); keep one"
    )


def test_a_cluster_schedules_by_its_file(tmp_path):
    """Pods of a scheduler that the file does not name wait for another scheduler."""
    full = {"plugins": {"filter": disabled("NodeResourcesFit")}}
    path = written(tmp_path, document({"schedulerName": "mine"} | full))
    requests = {"requests": {"cpu": "1000"}}
    spec = {"containers": [{"name": "main", "image": "pause", "resources": requests}]}

    async def scenario():
        options = ClusterOptions(data_dir=tmp_path / "data", port=0, node_count=1, config=path)
        cluster = EmbeddedCluster(options)
        await cluster.start()
        try:
            for name, scheduler in (("other", "default-scheduler"), ("ours", "mine")):
                pod = {"metadata": {"name": name}, "spec": spec | {"schedulerName": scheduler}}
                await cluster.add([(POD, "default", pod)])
            for _ in range(1000):
                if cluster._service.get(POD, "default", "ours")["spec"].get("nodeName"):
                    break
                await asyncio.sleep(0.01)
            return [
                cluster._service.get(POD, "default", name)["spec"].get("nodeName", "")
                for name in ("ours", "other")
            ]
        finally:
            await cluster.stop()

    ours, other = asyncio.run(scenario())
    assert ours
    assert other == ""


def test_a_cluster_with_a_wrong_file_does_not_start(tmp_path):
    path = written(tmp_path, document({"plugins": {"multiPoint": enabled("Nobody")}}))
    options = ClusterOptions(data_dir=tmp_path / "data", port=0, config=path)
    with pytest.raises(ConfigurationError, match="there is no plugin 'Nobody'"):
        asyncio.run(EmbeddedCluster(options).start())
    assert not (tmp_path / "data").exists()
