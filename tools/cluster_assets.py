"""Build the programs that tests, conformance and benchmarks on a real control plane need (make cluster-assets)."""

import argparse
import sys

from posse.cli.up.programs import telling_progress
from posse.control_plane.assets import OWN_PROGRAMS, RELEASES, MissingProgramError, own_folder
from posse.control_plane.building import BuildError, build_all
from posse.control_plane.go_modules import ETCD

MODULES = [ETCD, *(release.module for release in RELEASES if release.module)]


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    if own_folder():
        print(f"{OWN_PROGRAMS} is set: its programs are used, nothing is built.")
        return 0
    try:
        with telling_progress() as tell:
            build_all([program for module in MODULES for program in module.programs()], tell)
    except MissingProgramError as error:
        print(error, file=sys.stderr)
        return 2
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
