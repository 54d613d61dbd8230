from collections import Counter

import pytest
import yaml

from posse.cli.problems import Misuse
from posse.cli.up.examples import example_names, example_path, read_example

EXAMPLES = [
    "basic-group",
    "gang",
    "gang-too-big",
    "job",
    "job-gang",
    "jobset-mpi",
    "jobset-pytorch",
    "jobset-replicated-gangs",
    "jobset-tree",
    "more-nodes",
    "single-pods",
]


def test_the_examples_are_the_files_in_the_repository():
    assert example_names() == EXAMPLES


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(Misuse, match="gang-too-big"):
        example_path("../gang")


@pytest.mark.parametrize("name", ["basic-group", "gang", "gang-too-big"])
def test_every_pod_of_a_group_example_is_in_its_group(name):
    group, *pods = [manifest.obj for manifest in read_example(name)]
    assert group["kind"] == "PodGroup"
    assert group["apiVersion"] == "scheduling.k8s.io/v1beta1"
    memberships = Counter(pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods)
    gang = group["spec"]["schedulingPolicy"].get("gang", {"minCount": 3})
    assert memberships == {group["metadata"]["name"]: gang["minCount"]}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_plain_documents_that_any_namespace_takes(name):
    documents = list(yaml.safe_load_all(example_path(name).read_text()))
    assert all(document["kind"] != "List" for document in documents)
    assert all("namespace" not in document["metadata"] for document in documents)
