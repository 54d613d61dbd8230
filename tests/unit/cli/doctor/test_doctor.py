"""posse doctor on an embedded cluster and a snapshot: report, data and exit codes."""

import json

import pytest
import yaml

from posse.cli.locations import is_in_pod

GROUP = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "odd"},
    "spec": {
        "schedulingPolicy": {"gang": {"minCount": 1}},
        "schedulingConstraints": {"topology": [{"key": "example.com/row"}]},
    },
}


def test_a_sound_cluster_has_notes_only_and_an_unsound_one_errors(posse, kubeconfig, tmp_path):
    sound = posse("doctor", "--kubeconfig", kubeconfig)
    assert (sound.code, sound.err) == (0, "")
    assert "served by the API server itself" in sound.out
    assert "0 errors, 0 warnings" in sound.out
    assert "not checked: admission (this cluster does not serve it)" in sound.out

    posse("apply", "-f", "-", "--kubeconfig", kubeconfig, stdin=yaml.safe_dump(GROUP))
    unsound = posse("doctor", "--kubeconfig", kubeconfig, "-o", "json")
    assert unsound.code == 4
    (found,) = (one for one in json.loads(unsound.out)["findings"] if one["severity"] == "error")
    assert found["check"] == "topology"
    assert found["advice"]

    snapshot = tmp_path / "cluster.snapshot"
    posse("snapshot", snapshot, "--kubeconfig", kubeconfig)
    told = posse("doctor", "--snapshot", snapshot)
    assert told.code == 4
    assert "error (topology): no node has the label example.com/row" in told.out
    assert (
        "not checked: version, gates, group-apis, rights, leases, schedulers, admission, clock (not in a snapshot)"
        in told.out
    )


@pytest.mark.parametrize(
    "words",
    [
        ["--account", "posse"],
        ["--account", "a/b", "--snapshot", "x"],
        ["--kubeconfig", "a", "--snapshot", "x"],
    ],
)
def test_misuse_is_told(posse, words):
    assert posse("doctor", *words).code == 2


def test_a_pod_without_a_kubeconfig_reads_its_own_cluster(tmp_path):
    there = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "XDG_DATA_HOME": str(tmp_path)}
    assert is_in_pod(there)
    assert not is_in_pod(there | {"KUBECONFIG": "elsewhere"})
    assert not is_in_pod({"XDG_DATA_HOME": str(tmp_path)})
