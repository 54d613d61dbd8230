"""Build the programs of the neighbours that Posse is tested with (make neighbour-assets)."""

import argparse
import subprocess
import sys
from pathlib import Path

from posse.cli.up.programs import telling_progress
from posse.control_plane.assets import MissingProgramError
from posse.control_plane.building import BuildError, build_all
from posse.control_plane.go_modules import GoModule

_MODULES = Path(__file__).parent / "modules"

JOB_SET = GoModule(_MODULES / "jobset", "sigs.k8s.io/jobset", {"jobset": "sigs.k8s.io/jobset"})
KUEUE = GoModule(_MODULES / "kueue", "sigs.k8s.io/kueue", {"kueue": "sigs.k8s.io/kueue/cmd/kueue"})
# Only definitions of these two are used, no program.
VOLCANO = GoModule(_MODULES / "volcano", "volcano.sh/volcano", {})
AUTOSCALER = GoModule(_MODULES / "kueue", "k8s.io/autoscaler/cluster-autoscaler/apis", {})
LEADER_WORKER_SET = GoModule(_MODULES / "lws", "sigs.k8s.io/lws", {"lws": "sigs.k8s.io/lws/cmd"})
NEIGHBOURS = (KUEUE, JOB_SET, LEADER_WORKER_SET)


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    try:
        with telling_progress() as tell:
            build_all([program for module in NEIGHBOURS for program in module.programs()], tell)
    except (MissingProgramError, BuildError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def find_neighbour(module: GoModule) -> Path:
    """Return its one program. MissingProgramError: it is not built."""
    [program] = module.programs()
    if not program.path.exists():
        raise MissingProgramError(
            f"{program.name} {module.version} is not at {program.path}; run `make neighbour-assets`."
        )
    return program.path


def source_of(module: GoModule) -> Path:
    """Return the folder of its published source, which has its manifests."""
    for command in (["go", "mod", "download"], ["go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}"]):
        done = subprocess.run(
            [*command, module.path], cwd=module.folder, capture_output=True, text=True, check=True
        )
    return Path(done.stdout.strip())


if __name__ == "__main__":
    sys.exit(main())
