"""The pages on neighbours: their commands are run as they are written."""

import re
import shlex
from pathlib import Path

from tests.support import posse_command

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides" / "neighbours"


def run_guide(name, kubectl, kubeconfig):
    """Run every line of its `sh` blocks, and return what each printed."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (GUIDES / f"{name}.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line]
    return {line: _run(line, kubectl, kubeconfig) for line in lines}


def _run(line, kubectl, kubeconfig):
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in shlex.split(line)]
    if words[0] == "kubectl":
        return kubectl(words[1], *words[2:])
    assert words[0] == "posse", f"the guide uses something this test cannot run: {line}"
    return posse_command.posse(*words, KUBECONFIG=str(kubeconfig))
