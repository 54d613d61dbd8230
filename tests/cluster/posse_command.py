"""The posse command beside a control plane, run to its end by the administrator."""

import os
import subprocess
import sys

from posse.control_plane.plane import ControlPlane


def posse(plane: ControlPlane, *words: str) -> subprocess.CompletedProcess[str]:
    """Run it; it must succeed."""
    environment = os.environ | {"KUBECONFIG": str(plane.kubeconfig()), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "posse", *words], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done
