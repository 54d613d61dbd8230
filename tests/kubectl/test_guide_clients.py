"""The commands of docs/guides/clients.md, as they are written."""

import re
import shlex
from pathlib import Path

import pytest

pytestmark = pytest.mark.kubectl

ROOT = Path(__file__).parents[2]


def test_every_command_of_the_guide(cluster_kubectl, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/guides/clients.md").read_text()
    [block] = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    answers = []
    for line in block.splitlines():
        program, *words = shlex.split(line)
        assert program == "kubectl"
        answers.append(cluster_kubectl(shlex.join(words)))
    assert "serverside-applied" in answers[0]
    assert "manager: kubectl" in answers[1]
