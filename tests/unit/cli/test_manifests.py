import pytest

from posse.cli.manifests import parse_manifests, read_manifests
from posse.cli.problems import Problem

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: team}\n"


def parse(text):
    return list(parse_manifests(text, "file.yaml"))


def problem(text):
    with pytest.raises(Problem) as raised:
        parse(text)
    return str(raised.value)


def test_documents_are_read_in_order_and_empty_ones_skipped():
    manifests = parse(f"---\n{POD}---\n---\n{POD.replace('name: a', 'name: b')}")
    assert [manifest.name for manifest in manifests] == ["a", "b"]
    assert [manifest.kind.plural for manifest in manifests] == ["pods", "pods"]
    assert manifests[0].namespace == "team"


def test_json_is_yaml():
    (manifest,) = parse('{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}')
    assert (manifest.kind.name, manifest.namespace) == ("Node", "")


def test_lists_are_opened():
    items = "".join(f"- {{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}}}\n" for name in "ab")
    manifests = parse(f"apiVersion: v1\nkind: List\nitems:\n{items}")
    assert [manifest.name for manifest in manifests] == ["a", "b"]
    assert manifests[1].origin == "file.yaml, items[1]"


def test_versions_are_kept_as_written():
    (manifest,) = parse("apiVersion: scheduling.k8s.io/v1alpha3\nkind: PodGroup\nmetadata: {name: g}")
    assert manifest.version == "v1alpha3"


def test_parts_may_be_repeated_by_aliases():
    (manifest,) = parse(POD + "spec: {a: &a {x: 1}, b: *a}")
    assert manifest.obj["spec"]["b"] == {"x": 1}


def test_dates_stay_text():
    (manifest,) = parse(POD + "spec: {when: 2026-01-31, then: 2026-01-31T00:00:00Z}")
    assert manifest.obj["spec"] == {"when": "2026-01-31", "then": "2026-01-31T00:00:00Z"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1, 2\nb: 3", "file.yaml:2:2: not valid YAML"),
        ("a: &x\n  b: *y", "file.yaml:2:6: not valid YAML"),
        ("\x00", "not valid YAML"),
        ("- 1\n- 2", "not a list"),
        ("just words", "not a text"),
        ("42", "not a number"),
        ("kind: Pod", "apiVersion is missing"),
        ("apiVersion: v1", "kind is missing"),
        ("apiVersion: 1\nkind: Pod", "apiVersion is not a text"),
        ("apiVersion: v1\nkind: Pod", "metadata.name is missing"),
        ("apiVersion: v1\nkind: Pod\nmetadata: [a]", "metadata.name is missing"),
        ("apiVersion: v1\nkind: Pood\nmetadata: {name: a}", 'does not know kind "Pood" of apiVersion "v1"'),
        (
            "apiVersion: v1\nkind: PodGroup\nmetadata: {name: a}",
            "use apiVersion scheduling.k8s.io/v1beta1 or",
        ),
        ("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}", "Posse knows Pod,"),
        (POD + "spec: {x: !!set {a}}", "cannot be said in JSON"),
        (POD + "spec: {x: .inf}", "cannot be said in JSON"),
        ("&a {kind: List, items: [*a]}", "cannot be said in JSON"),
        ("a: !!int x", "file.yaml:1:4: not valid YAML: this cannot be read as int"),
        ("[" * 100_000, "nested more than 100 levels deep"),
        (f"{POD}---\nkind: Pod\n", "file.yaml (document 2): apiVersion is missing"),
    ],
)
def test_what_is_wrong_is_said_with_the_place(text, says):
    assert says in problem(text)


def test_tags_that_would_run_code_are_refused():
    assert "not valid YAML" in problem("!!python/object/apply:os.system ['true']")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").write_text("# nothing\n")
    for name, says in [
        ("missing", "no such file"),
        ("", "is a directory"),
        ("binary", "UTF-8"),
        ("empty", "no object"),
    ]:
        with pytest.raises(Problem) as raised:
            read_manifests(str(tmp_path / name))
        assert str(tmp_path / name) in str(raised.value)
        assert says in str(raised.value)


def test_generated_names_are_names():
    (manifest,) = parse("apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}")
    assert manifest.name == ""


def test_aliases_cannot_grow_without_bound():
    levels = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    assert "once its aliases are written out" in problem(f"{POD}data:\n  a0: &a0 [x]\n{levels}")
