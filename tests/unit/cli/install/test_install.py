"""posse install as it is typed: what is printed, and what is refused before anything is."""

import pytest
import yaml

from posse.installation.bundle import objects
from posse.installation.options import ForeignGroupApi, InstallOptions
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


def test_an_image_that_may_change_is_warned_of(posse):
    assert "name it by digest" in posse("install", "--form", "crd", "--image", "i:1").err
    pinned = f"i@sha256:{'0' * 64}"
    done = posse("install", "--form", "crd", "--image", pinned)
    assert (f"image: {pinned}" in done.out, done.err) == (True, "")


def test_permissions_follow_what_is_asked_for(posse):
    words = ["--foreign-groups", "volcano", "--foreign-groups", "coscheduling", "--without-volumes"]
    options = InstallOptions(
        foreign_groups=(ForeignGroupApi.VOLCANO, ForeignGroupApi.COSCHEDULING), volumes=False
    )
    assert list(yaml.safe_load_all(posse("install", "--form", "crd", *words).out)) == objects(options)


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
        (["--image", "posse@sha256:12"], "--image: 'sha256:12' is not a digest"),
    ],
)
def test_names_that_no_cluster_takes_are_refused(posse, words, told):
    done = posse("install", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {told}")
