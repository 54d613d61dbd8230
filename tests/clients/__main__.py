"""Tries the embedded cluster with the clients people use, and prints what passes: make test-clients.

Programs that are not here are named with how to get them. The first run builds Go programs, which takes minutes.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.clients.command_lines import use_helm, use_kubectl
from tests.clients.outcome import FAILED, MISSING, PASSED, Outcome, ran, tried
from tests.clients.programs import (
    HELMS,
    NotHereError,
    go_program,
    helm,
    javascript_folder,
    kubectl_version,
    kubectls,
)
from tests.clients.python_clients import use_kubernetes, use_kubernetes_asyncio

START_SECONDS = 60
WATCH_LIST = "KUBE_FEATURE_WatchListClient"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, _cluster(Path(folder)) as kubeconfig:
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        outcomes = []
        for outcome in _outcomes(environment, Path(folder)):
            print(f"{outcome.name:45} {outcome.result} {outcome.detail}".rstrip(), flush=True)  # noqa: T201
            outcomes.append(outcome)
    counts = {each: sum(outcome.result == each for outcome in outcomes) for each in (PASSED, FAILED, MISSING)}
    print(", ".join(f"{count} {result}" for result, count in counts.items()))  # noqa: T201
    return 1 if counts[FAILED] else 0


def _outcomes(environment: dict[str, str], folder: Path) -> Iterator[Outcome]:
    kubeconfig = environment["KUBECONFIG"]
    yield tried("kubernetes (Python)", lambda: use_kubernetes(kubeconfig))
    yield tried("kubernetes_asyncio (Python)", lambda: use_kubernetes_asyncio(kubeconfig))
    yield _with(
        "@kubernetes/client-node (JavaScript)",
        javascript_folder,
        lambda place: ran(["node", "check.mjs"], environment, place),
    )
    for name in HELMS:
        yield _with(
            name,
            lambda name=name: helm(name),
            lambda program, name=name: use_helm(program, environment, folder / name.replace(" ", "")),
        )
    yield from _kubectls(environment, folder)
    yield from _go(environment)


def _kubectls(environment: dict[str, str], folder: Path) -> Iterator[Outcome]:
    try:
        programs = kubectls()
    except NotHereError as missing:
        yield Outcome("kubectl", MISSING, str(missing))
        return
    for number, program in enumerate(programs):
        yield tried(
            f"kubectl {kubectl_version(program)}",
            lambda number=number, program=program: use_kubectl(
                program, environment, folder / f"kubectl-{number}"
            ),
        )


def _with(name: str, find: Callable, use: Callable) -> Outcome:
    try:
        program = find()
    except NotHereError as missing:
        return Outcome(name, MISSING, str(missing))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return Outcome(name, MISSING, f"it could not be built: {error}")
    return tried(name, lambda: use(program))


def _go(environment: dict[str, str]) -> Iterator[Outcome]:
    """The checks of the Go program; its informers once with, once without lists that come as a watch."""
    try:
        program = go_program()
    except (NotHereError, RuntimeError, subprocess.TimeoutExpired) as missing:
        yield Outcome("client-go, controller-runtime", MISSING, str(missing))
        return
    for streamed in ("true", "false"):
        words = [program, *(() if streamed == "true" else ("informers",))]
        done = subprocess.run(
            words, env={**environment, WATCH_LIST: streamed}, capture_output=True, text=True, check=False
        )
        for line in done.stdout.splitlines():
            result, _, rest = line.partition(" ")
            name, _, detail = rest.partition(": FAIL ")
            suffix = f" (WatchList {'on' if streamed == 'true' else 'off'})" * ("informers" in name)
            yield Outcome(name + suffix, PASSED if result == "ok" else FAILED, detail)


@contextmanager
def _cluster(folder: Path) -> Iterator[Path]:
    kubeconfig, log = folder / "kubeconfig", folder / "log"
    command = [sys.executable, "-m", "posse", "up", "--port", "0", "--data-dir", str(folder / "data")]
    with log.open("w") as output:
        process = subprocess.Popen([*command, "--kubeconfig", str(kubeconfig)], stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not kubeconfig.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"posse up did not start: {log.read_text()}")
            time.sleep(0.1)
        yield kubeconfig
    finally:
        process.terminate()
        process.wait(START_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
