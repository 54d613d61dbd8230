"""docs/guides/install.md: its commands print manifests, and its tables tell what is in them."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from posse.installation.control_permissions import permissions_to_control
from posse.installation.options import ForeignGroupApi, InstallOptions
from posse.installation.page import TO_READ_THE_LEASE, TO_SHOW
from posse.installation.permissions import permissions_to_lead, permissions_to_schedule
from tests.support.posse_command import posse

ROOT = Path(__file__).parents[2]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PAGE = (ROOT / "docs" / "guides" / "install.md").read_text()


def commands():
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture
def printed(tmp_path):
    """Run a command where there is no cluster to ask, and read what it prints."""

    def run(line):
        return list(yaml.load_all(posse(*shlex.split(line), KUBECONFIG=str(tmp_path / "none")), _LOADER))

    return run


def test_the_commands_print_what_the_page_says(printed):
    plain, native, chosen, controlling, foreign, page = map(printed, commands())
    assert "scheduling.volcano.sh" in str(foreign)
    new = {item["metadata"]["name"] for item in page if item not in plain}
    assert new == {"posse-page", "posse-page-viewer"}
    assert "persistentvolumes" not in str(foreign)
    assert [item["metadata"]["name"] for item in controlling if item not in plain][:2] == [
        "jobsets.jobset.x-k8s.io",
        "leaderworkersets.leaderworkerset.x-k8s.io",
    ]
    names = {obj["metadata"]["name"] for obj in (*plain, *chosen)}
    told = set(
        re.findall(r"`([a-z-]+)`", PAGE.partition("## What is installed")[2].partition("## What it may")[0])
    )
    assert {
        "posse",
        "posse-critical-pods",
        "posse-groups-view",
        "posse-groups-edit",
    } <= told & names
    assert {obj["kind"] for obj in plain} - {obj["kind"] for obj in native} == {"CustomResourceDefinition"}
    assert {obj["kind"] for obj in chosen} - {obj["kind"] for obj in plain} == {
        "Namespace",
        "ResourceQuota",
        "Service",
        "ServiceMonitor",
    }
    (namespace,) = (obj for obj in chosen if obj["kind"] == "Namespace")
    assert namespace["metadata"]["name"] == "batch"


def test_every_kind_that_is_installed_is_told_of(printed):
    for obj in printed("posse install --with-monitoring -n batch"):
        if obj["kind"] not in {"CustomResourceDefinition", "ClusterRoleBinding", "RoleBinding"}:
            assert obj["kind"] in PAGE


def test_every_permission_is_told_with_its_reason():
    rows = re.findall(r"^\| (\S+) \| (`.*`) \| ([a-z, ]+) \| (.*) \|$", PAGE, re.MULTILINE)
    told = [
        (group.strip("`").replace("core", ""), tuple(re.findall(r"`(.*?)`", resources)), verbs, reason)
        for group, resources, verbs, reason in rows
    ]
    everything = InstallOptions(
        controllers=("jobsets", "leaderworkersets"),
        foreign_groups=tuple(ForeignGroupApi),
        provisioning_requests=True,
    )
    granted = [
        (item.api_group, item.resources, ", ".join(item.verbs), item.reason)
        for item in (
            *permissions_to_schedule(everything),
            *permissions_to_lead("posse"),
            *permissions_to_control(everything),
            *TO_SHOW,
            *TO_READ_THE_LEASE,
        )
    ]
    assert told == granted
