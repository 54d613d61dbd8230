"""Where things lie on the user's machine: the default data directory and the kubeconfig in force."""

import os
from collections.abc import Mapping
from pathlib import Path

from posse.cli.problems import Problem
from posse.runtime.options import KUBECONFIG_NAME


def default_data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the XDG data directory's part for Posse; what a user starts without a name is called default."""
    home = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "posse" / "default"


def kubeconfig_in_force(chosen: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the chosen kubeconfig, else that of the default data directory, else $KUBECONFIG.

    The embedded cluster goes before $KUBECONFIG, which on many machines names a cluster that matters.
    """
    if chosen is not None:
        return chosen
    own = default_data_dir(environment) / KUBECONFIG_NAME
    others = [Path(part).expanduser() for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    for candidate in (own, *others):
        if candidate.exists():
            return candidate
    raise Problem(
        f"no kubeconfig: {own} does not exist and $KUBECONFIG names none; "
        "start a cluster with `posse up`, or pass --kubeconfig FILE"
    )
