import json

import yaml

from posse.cli.session import connected
from posse.cli.up.examples import example_path

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec: {containers: [{name: main, image: pause}]}
"""


def test_a_pod_is_applied_changed_shown_and_deleted(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    assert posse("apply", *where, "-f", "-", stdin=POD % "one").out == "pod/one created\n"
    assert posse("get", *where, "pods", "one").out.splitlines()[0].split()[:3] == ["NAME", "READY", "STATUS"]
    labelled = (POD % "one").replace("name: one", "name: one, labels: {a: b}")
    assert posse("apply", *where, "-f", "-", stdin=labelled).out == "pod/one configured\n"
    assert posse("delete", *where, "pod", "one").out == 'pod "one" deleted\n'


def test_applying_twice_changes_nothing(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig, "-f", example_path("gang"))
    first = posse("apply", *where)
    assert first.code == 0
    assert first.out.splitlines() == ["podgroup/trainer created"] + [
        f"pod/trainer-{i} created" for i in range(4)
    ]
    again = posse("apply", *where)
    assert again.out == first.out.replace("created", "unchanged")
    gone = posse("delete", *where)
    assert gone.code == 0
    assert len(gone.out.splitlines()) == 5


def test_objects_as_tables_yaml_and_json(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    wide = posse("get", *where, "nodes", "-o", "wide").out
    assert "INTERNAL-IP" in wide
    assert "INTERNAL-IP" not in posse("get", *where, "nodes").out
    node = yaml.safe_load(posse("get", *where, "node", "node-0001", "-o", "yaml").out)
    assert node["metadata"]["name"] == "node-0001"
    both = json.loads(posse("get", *where, "nodes,namespaces", "-o", "json").out)
    assert both["kind"] == "List"
    assert {item["kind"] for item in both["items"]} == {"Node", "Namespace"}


def test_namespaces_are_respected(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    posse("apply", *where, "-f", "-", stdin="{apiVersion: v1, kind: Namespace, metadata: {name: team}}")
    posse("apply", *where, "-n", "team", "-f", "-", stdin=POD % "there")
    assert "there" in posse("get", *where, "-n", "team", "pods").out
    everywhere = posse("get", *where, "-A", "pods").out.splitlines()
    assert everywhere[0].startswith("NAMESPACE")
    assert any(line.split()[:2] == ["team", "there"] for line in everywhere)
    nothing = posse("get", *where, "podgroups", "-n", "team")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == "No resources found in team namespace.\n"
    other = (POD % "x").replace("name: x", "name: x, namespace: default")
    clash = posse("apply", *where, "-n", "team", "-f", "-", stdin=other)
    assert (clash.code, clash.out) == (1, "")
    assert "metadata.namespace is default, but -n is team" in clash.err


def test_generated_names(posse, kubeconfig):
    manifest = (POD % "x").replace("name: x", "generateName: made-")
    made = posse("apply", "--kubeconfig", kubeconfig, "-f", "-", stdin=manifest)
    assert made.out.startswith("pod/made-")
    refused = posse("delete", "--kubeconfig", kubeconfig, "-f", "-", stdin=manifest)
    assert refused.code == 1
    assert "no metadata.name" in refused.err


def test_refusals_of_the_server_are_told_in_one_line(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    bad = "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {schedulingPolicy: {}}"
    refused = posse("apply", *where, "-f", "-", stdin=bad)
    assert refused.code == 1
    assert refused.err.startswith("Error: standard input: the server refused (Invalid): PodGroup")
    assert "spec.schedulingPolicy" in refused.err
    assert len(refused.err.splitlines()) == 1
    missing = posse("get", *where, "pods", "nobody")
    assert (missing.code, missing.err) == (
        1,
        'Error: the server refused (NotFound): pods "nobody" not found\n',
    )
    gone = posse("delete", *where, "pods", "nobody", "noone")
    assert (gone.code, gone.err) == (1, 'Error: not found: pod "nobody", pod "noone"\n')


def test_unknown_fields_are_refused_as_kubectl_does(posse, kubeconfig):
    misspelt = POD % "odd" + "sepc: {}\n"
    applied = posse("apply", "--kubeconfig", kubeconfig, "-f", "-", stdin=misspelt)
    assert applied.code == 1
    assert 'strict decoding error: unknown field "sepc"' in applied.err
    assert posse("get", "pod", "odd", "--kubeconfig", kubeconfig).code == 1


def test_warnings_of_the_server_are_passed_on(posse, kubeconfig, capsys):
    with connected(kubeconfig) as client:
        headers = {"Content-Type": "application/json"}
        pods = "/api/v1/namespaces/default/pods?dryRun=All"
        client._exchange("POST", pods, yaml.safe_load(POD % "odd" + "sepc: {}\n"), headers)
    assert capsys.readouterr().err == 'Warning: unknown field "sepc"\n'


def test_one_bad_file_stops_everything_before_the_first_request(posse, kubeconfig, tmp_path):
    (tmp_path / "good.yaml").write_text(POD % "never")
    (tmp_path / "bad.yaml").write_text("a: [")
    files = ("-f", tmp_path / "good.yaml", "-f", tmp_path / "bad.yaml")
    result = posse("apply", "--kubeconfig", kubeconfig, *files)
    assert (result.code, result.out) == (1, "")
    assert f"{tmp_path / 'bad.yaml'}:2:1: not valid YAML" in result.err
    assert posse("get", "--kubeconfig", kubeconfig, "pods", "never").code == 1


def test_misuse_is_told_apart_from_failure(posse, kubeconfig):
    where = ("--kubeconfig", kubeconfig)
    for words in (
        ["delete"],
        ["delete", "pods"],
        ["delete", "pods", "a", "-f", "b"],
        ["get", "pods", "a", "-A"],
    ):
        result = posse(*words, *where)
        assert result.code == 2
        assert len(result.err.splitlines()) == 1
    assert posse("get").code == 2
    assert posse("get", *where, "unicorns").code == 1


def test_nothing_to_talk_to(posse, tmp_path, kubeconfig):
    nowhere = posse("get", "pods")
    assert nowhere.code == 1
    assert "posse up" in nowhere.err
    config = yaml.safe_load(kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    dead = tmp_path / "dead"
    dead.write_text(yaml.safe_dump(config))
    unreachable = posse("get", "--kubeconfig", dead, "pods")
    assert unreachable.code == 1
    assert "is `posse up` running?" in unreachable.err
    # Verbs that ask several questions say the same, and no more.
    assert posse("gangs", "--kubeconfig", dead).err == unreachable.err
    assert unreachable.err.count("refused") == 1


def test_a_token_that_is_not_the_servers(posse, tmp_path, kubeconfig):
    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"]["token"] = "wrong"
    path = tmp_path / "wrong"
    path.write_text(yaml.safe_dump(config))
    refused = posse("get", "--kubeconfig", path, "pods")
    server = config["clusters"][0]["cluster"]["server"]
    assert refused.code == 1
    assert refused.err.startswith(f"Error: {server} rejected the credentials in {path} (401); use ")
    assert posse("gangs", "--kubeconfig", path).err == refused.err
