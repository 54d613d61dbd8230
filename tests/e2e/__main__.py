"""Kubernetes' own end-to-end tests that need no kubelet, on both kinds of `posse up`: make test-e2e.

The program is built once from the published module. Tests that cannot pass are listed with their reason in
cannot_pass.yaml and left out; each of the others must pass.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from posse.cli.up.programs import telling_progress
from posse.control_plane.assets import MissingProgramError
from posse.control_plane.building import BuildError, build_all
from tests.e2e.clusters import MODES, running_cluster
from tests.e2e.reasons import reasons_for
from tests.e2e.suite import FAILS, PARTS, PROGRAM, Verdict, run_suite


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m tests.e2e", description=__doc__)
    words.add_argument("--modes", default=",".join(MODES), help="which clusters, in this order")
    words.add_argument("--focus", default=PARTS, help="a regular expression: tests whose names it matches")
    words.add_argument("--left-out-too", action="store_true", help="run also those that are said not to pass")
    options = words.parse_args()
    try:
        with telling_progress() as tell:
            build_all([PROGRAM], tell)
    except (MissingProgramError, BuildError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    codes = [_run(mode, options.focus, everything=options.left_out_too) for mode in options.modes.split(",")]
    return max(codes)


def _run(mode: str, focus: str, *, everything: bool) -> int:
    """Print what the tests came to on a cluster, and return 1 if one failed or none was found."""
    reasons = {} if everything else reasons_for(mode)
    with (
        tempfile.TemporaryDirectory(prefix="posse-e2e-") as folder,
        running_cluster(mode, Path(folder)) as kubeconfig,
    ):
        verdicts = run_suite(kubeconfig, Path(folder), focus, reasons)
    _tell(mode, verdicts)
    return int(not verdicts or any(verdict.result == FAILS for verdict in verdicts))


def _tell(mode: str, verdicts: list[Verdict]) -> None:
    counts = Counter(verdict.result for verdict in verdicts)
    lines = [f"  {verdict.line}" for verdict in verdicts]
    total = ", ".join(f"{count} {result}" for result, count in counts.most_common())
    print("\n".join([mode, *lines, f"{mode}: {total}"]), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
