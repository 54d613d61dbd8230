"""A tour of kubectl on one cluster: what people type every day, and what they are told."""

import pytest

from posse.kinds.registry import KINDS
from tests.kubectl.tour import CHAPTERS, commands

pytestmark = pytest.mark.kubectl

# Commands that the tour has for every kind.
FOR_EVERY_KIND = (
    "get {0} -A",
    "get {0} -A -o wide",
    "get {0} -A -o yaml",
    "explain {1} --api-version={2}",
)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_of_the_tour(shared_kubectl, chapter):
    namespace = chapter.replace(" ", "-")
    shared_kubectl(f"create namespace {namespace}")
    wrong = [
        f"kubectl {command}\n{told}"
        for command, said, must_fail in commands(chapter, namespace)
        if (told := problem(shared_kubectl, namespace, command, said, must_fail))
    ]
    assert wrong == [], "\n".join(wrong)


def problem(kubectl, namespace, command, said, must_fail):
    """What is wrong with the answer; empty if nothing is."""
    words = command.split()
    place = [] if "-n" in words or "-A" in words or words[0] in ("config", "options") else ["-n", namespace]
    if "--" in words:
        place, words = [], [words[0], "-n", namespace, *words[1:]]
    result = kubectl.run(*words, *place)
    told = result.stdout + result.stderr
    is_right = (result.returncode != 0) is must_fail and said in told
    return "" if is_right else f"exit code {result.returncode}, expected {said!r}: {told[:600]}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.group_resource)
def test_every_kind_can_be_shown_and_explained(shared_kubectl, kind):
    names = kind.group_resource, kind.plural, kind.api_version
    for command in FOR_EVERY_KIND:
        result = shared_kubectl.run(*command.format(*names).split())
        assert result.returncode == 0, f"kubectl {command.format(*names)}: {result.stderr}"
    assert f"KIND:       {kind.name}" in result.stdout


def test_the_tour_is_long():
    assert sum(len(list(commands(chapter, "x"))) for chapter in CHAPTERS) >= 350
