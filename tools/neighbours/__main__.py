"""Run `posse up --control-plane kubernetes` with the controller of another project beside it, until Ctrl-C.

Pods of simulated nodes run nothing, so the controller is a process here, and its webhooks lead to it.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from posse.control_plane.assets import MissingProgramError
from tools.neighbours.neighbour import Neighbour
from tools.neighbours.projects import JOB_SET_PROJECT, KUEUE_PROJECT, LEADER_WORKER_SET_PROJECT

PROJECTS = {"kueue": KUEUE_PROJECT, "jobset": JOB_SET_PROJECT, "lws": LEADER_WORKER_SET_PROJECT}
_START_SECONDS = 180.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make neighbour NAME=...", description=__doc__)
    parser.add_argument("name", choices=PROJECTS)
    parser.add_argument("--nodes", type=int, default=4)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="posse-neighbour-") as folder:
        try:
            _run(chosen.name, chosen.nodes, Path(folder))
        except (MissingProgramError, RuntimeError) as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            pass
    return 0


def _run(name: str, nodes: int, folder: Path) -> None:
    kubeconfig, log = folder / "data" / "kubeconfig", folder / "log"
    words = ["up", "--control-plane", "kubernetes", "--port", "0", "--nodes", str(nodes), "--data-dir"]
    print("Starting a cluster ...", flush=True)
    with log.open("w") as output:
        command = [sys.executable, "-m", "posse", *words, str(folder / "data")]
        up = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        _wait_until_ready(up, log)
        print(f"Installing {name} ...", flush=True)
        neighbour = Neighbour(PROJECTS[name], kubeconfig, folder / name)
        try:
            neighbour.install()
            print(
                f"{name} runs. In another terminal:\n  export KUBECONFIG={kubeconfig}\nCtrl-C ends both.",
                flush=True,
            )
            up.wait()
            raise RuntimeError(f"posse up has ended:\n{log.read_text()[-2000:]}")
        finally:
            neighbour.stop()
    finally:
        up.terminate()
        up.wait()


def _wait_until_ready(up: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while "is ready at" not in log.read_text():
        if up.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"posse up did not start:\n{log.read_text()}")
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
