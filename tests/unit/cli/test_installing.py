"""posse install as it is typed: what is printed, and what is refused before anything is."""

import pytest
import yaml
from typer.testing import CliRunner

from posse.cli.main import app
from posse.cli.problems import Misuse
from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.kinds.discovered import ClusterForm


def run(*words):
    return CliRunner().invoke(app, ["install", *words])


def test_what_is_printed_reads_back_as_it_was_meant():
    assert list(yaml.safe_load_all(run().stdout)) == objects(InstallOptions())


def test_options_are_followed():
    words = [
        "--form",
        "native",
        "--image",
        "i:1",
        "-n",
        "batch",
        "--scheduler-name",
        "gangs",
        "--with-monitoring",
    ]
    options = InstallOptions(ClusterForm.NATIVE, "i:1", "batch", "gangs", monitoring=True)
    assert list(yaml.safe_load_all(run(*words).stdout)) == objects(options)


def test_people_can_read_it():
    text = run().stdout
    assert "&id" not in text, "nothing by reference"
    assert "    profiles:\n      - schedulerName: posse\n" in text, "the configuration as a block"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--namespace", "Upper"], "--namespace: 'Upper'"),
        (["--scheduler-name", "a b"], "--scheduler-name: 'a b'"),
        (["--image", " "], "--image"),
    ],
)
def test_names_that_no_cluster_takes_are_refused(words, told):
    done = run(*words)
    assert isinstance(done.exception, Misuse)
    assert str(done.exception).startswith(told)
    assert done.stdout == ""
