"""Paths on the user's machine: the default data directory and the kubeconfig to use."""

import os
from collections.abc import Mapping
from pathlib import Path

from posse.cli.problems import Problem
from posse.runtime.process.options import KUBECONFIG_NAME

IN_POD = "KUBERNETES_SERVICE_HOST"


def default_data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the default cluster's directory inside the XDG data directory."""
    home = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "posse" / "default"


def is_in_pod(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process runs in a pod, and there is no kubeconfig of another cluster."""
    own = default_data_dir(environment) / KUBECONFIG_NAME
    return bool(environment.get(IN_POD)) and not environment.get("KUBECONFIG") and not own.exists()


def kubeconfig_in_force(chosen: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the chosen kubeconfig, else that of $KUBECONFIG, else that in the default data directory."""
    if chosen is not None:
        return chosen
    own = default_data_dir(environment) / KUBECONFIG_NAME
    others = [Path(part).expanduser() for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    for candidate in others or [own]:
        if candidate.exists():
            return candidate
    if others:
        raise Problem(
            f"no kubeconfig: $KUBECONFIG names {', '.join(map(str, others))}, which does not exist; "
            "unset it to reach the cluster of a plain `posse up`, or pass --kubeconfig FILE"
        )
    raise Problem(
        f"no kubeconfig: $KUBECONFIG is not set and {own} does not exist; "
        "start a cluster with `posse up`, or pass --kubeconfig FILE (that of kubectl: ~/.kube/config)"
    )
