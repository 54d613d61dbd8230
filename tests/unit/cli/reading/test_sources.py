"""The rules of the running scheduler: read from its page or its lease, else the default is assumed aloud."""

import json

from posse.cli.client import Refused
from posse.cli.configuration_file import rules_in_force
from posse.cli.reading.sources import ApiSource
from posse.cli.session import Rules

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/posse"
DEFAULT = Rules()
SETTINGS = {"schedulerNames": ["trainer"], "featureGates": {}, "configuration": None}


class PagesOnly:
    """Serves single documents, and refuses everything else."""

    def __init__(self, **pages):
        self.pages = {f"/{name.replace('_', '/')}": page for name, page in pages.items()}

    def get(self, path):
        if path not in self.pages:
            raise Refused({"code": 404, "reason": "NotFound"})
        return self.pages[path]


def lease(text):
    client = PagesOnly()
    client.pages[LEASE] = {"metadata": {"annotations": {"scheduling.posse.dev/settings": text}}}
    return client


def names(client, rules=DEFAULT):
    return list(rules_in_force(rules, ApiSource(client)).profiles)


def test_an_embedded_cluster_has_a_page(capsys):
    assert names(PagesOnly(configz=SETTINGS)) == ["trainer"]
    assert capsys.readouterr().err == ""


def test_a_scheduler_in_a_cluster_writes_them_on_its_lease(capsys):
    assert names(lease(json.dumps(SETTINGS))) == ["trainer"]
    assert capsys.readouterr().err == ""


def test_the_names_of_both_count():
    client = lease(json.dumps(SETTINGS))
    client.pages["/configz"] = SETTINGS | {"schedulerNames": ["default-scheduler"]}
    assert sorted(names(client)) == ["default-scheduler", "trainer"]


def test_where_neither_can_be_read_the_default_is_assumed_and_said(capsys):
    for client in (PagesOnly(), PagesOnly(configz={"other": 1}), lease("{"), lease("[]")):
        assert names(client) == ["default-scheduler", "posse"]
        assert "so the default is assumed" in capsys.readouterr().err


def test_rules_that_cannot_be_used_here_are_named(capsys):
    odd = SETTINGS | {"configuration": {"kind": "Other"}}
    assert names(PagesOnly(configz=odd)) == ["default-scheduler", "posse"]
    assert "cannot be used here, so the default is assumed: " in capsys.readouterr().err


def test_what_the_user_chooses_comes_first(capsys):
    assert names(PagesOnly(configz=SETTINGS), Rules(scheduler_names=("mine",))) == ["mine"]
    assert capsys.readouterr().err == ""
