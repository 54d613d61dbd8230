"""Runs the commands of the tutorials and of the pages about moving, one after another on one `posse up`."""

import shlex

from tests.scenarios.test_guides import ROOT, cluster, commands_of, running, wait_until, words  # noqa: F401
from tests.support import posse_command

# The doctor of the first page sees a cluster without gangs.
PAGES = (
    "tutorials/platform-engineer.md",
    "tutorials/ml-engineer.md",
    "tutorials/scheduler-researcher.md",
    "tutorials/contributor.md",
    "migration/volcano.md",
    "migration/coscheduling.md",
)
CODES = {"posse plan -f examples/gang-too-big.yaml": 3}
WITHOUT_CLUSTER = ("simulate",)


def test_the_commands_of_the_pages_work(cluster, tmp_path):  # noqa: F811
    for page in PAGES:
        for line in commands_of(ROOT / "docs" / page):
            command = [
                str(tmp_path / word) if word.endswith(".snapshot") else word for word in shlex.split(line)
            ]
            where = [] if command[1] in WITHOUT_CLUSTER else ["--kubeconfig", cluster]
            posse_command.posse(*command, *where, codes=(CODES.get(line, 0),))
            if line == "posse apply -f examples/gang.yaml":
                wait_until(lambda: running(cluster, "trainer") == 4, "the gang of the first tutorial")
            elif line == "posse apply -f examples/more-nodes.yaml":
                wait_until(lambda: running(cluster, "colossus") == 9, "the gang that waited for nodes")
    wait_until(lambda: running(cluster, "erupting") == 3, "the gang of Volcano")
    wait_until(lambda: running(cluster, "coscheduled") == 3, "the gang of coscheduling")


def test_no_page_is_left_out():
    found = [*(ROOT / "docs" / "tutorials").glob("*.md"), *(ROOT / "docs" / "migration").glob("*.md")]
    assert {str(page.relative_to(ROOT / "docs")) for page in found} == set(PAGES)
