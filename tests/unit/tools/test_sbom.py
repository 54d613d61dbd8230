"""The bill of materials names what is installed in an image, and nothing that only developers have."""

import importlib.metadata
import tomllib

from tools.sbom import ROOT, bill, contained, read_lock

LOCK = """\
a==1.0 \\
    --hash=sha256:{0}
    # via posse
b-c==2.0 ; sys_platform != 'win32' \\
    --hash=sha256:{0} \\
    --hash=sha256:{1}
    # via
    #   a
    #   d
d==3.0 \\
    --hash=sha256:{1}
    # via other
""".format("0" * 64, "1" * 64)


def test_a_lock_file_is_read():
    packages = read_lock(LOCK)
    assert [(one.name, one.version, len(one.hashes)) for one in packages] == [
        ("a", "1.0", 1),
        ("b-c", "2.0", 2),
        ("d", "3.0", 1),
    ]
    assert packages[1].wanted_by == {"a", "d"}


def test_what_nobody_requires_is_left_out():
    assert [one.name for one in contained(read_lock(LOCK), ["A"])] == ["a", "b-c"]


def made():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project, bill(project, (ROOT / "requirements.lock").read_text())


def test_the_bill_of_posse_has_its_dependencies_in_the_versions_that_are_installed():
    project, found = made()
    named = {(item["name"], item["version"]) for item in found["components"]}
    for name in ("aiohttp", "numpy", "msgspec", "yarl"):
        assert (name, importlib.metadata.version(name)) in named
    assert not {name for name, _ in named} & {"pytest", "mypy", "ruff", "hypothesis"}
    assert found["metadata"]["component"]["name"] == project["name"] == "posse"
    assert all(item["properties"] for item in found["components"])
