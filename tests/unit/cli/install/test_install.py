"""posse install as it is typed: what is printed, and what is refused before anything is."""

import pytest
import yaml

from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.kinds.discovered import ClusterForm


def test_what_is_printed_reads_back_as_it_was_meant(posse):
    assert list(yaml.safe_load_all(posse("install", "--form", "crd").out)) == objects(InstallOptions())


def test_options_are_followed(posse):
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
    assert list(yaml.safe_load_all(posse("install", *words).out)) == objects(options)


def test_people_can_read_it(posse):
    text = posse("install", "--form", "crd").out
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
def test_names_that_no_cluster_takes_are_refused(posse, words, told):
    done = posse("install", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {told}")
