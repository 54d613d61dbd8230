"""Inputs of `posse simulate`: the cluster, the jobs and the policies that a request names."""

import gzip
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO, TypeVar

from posse.cli.configuration_file import unusable
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.opening import opened
from posse.cli.simulate.arrivals import MANIFEST_SUFFIXES, read_arrivals
from posse.configuration.problems import ConfigurationError
from posse.engine.events import ClusterObject
from posse.engine.groups.annotations import MINIMUM_RUN_TIME, PREFERRED_TOPOLOGY, stated_seconds
from posse.engine.options import EngineOptions
from posse.engine.reporting.annotation_messages import value_text
from posse.kinds.registry import NODE
from posse.kubelet.nodes import TOPOLOGY_PREFIX, TopologyError, parse_topology
from posse.model.decoding import decode
from posse.model.node import Node
from posse.recording.replay import history_of
from posse.recording.segments import RecordingError
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.recordings import recorded_options
from posse.simulation.clusters import equal_nodes, read_nodes
from posse.simulation.failures import FailureRate, NodeAbsence
from posse.simulation.jobs import FOREVER, TracedJob
from posse.simulation.limits import with_limits
from posse.simulation.policies import Policy, configured_policy, named_policies
from posse.simulation.recorded_jobs import recorded_cluster
from posse.simulation.trace_reading import LeftOut, Reading, TraceError, read_csv, read_swf

T = TypeVar("T")

DAY, HOUR = 86400.0, 3600.0


@dataclass(frozen=True, slots=True)
class Request:
    """What to simulate. The defaults are those of the command."""

    trace: Path
    nodes: int | None = None
    """16, or those of the recording."""
    gpus: int = 8
    topology: str = ""
    node_list: Path | None = None
    snapshot: Path | None = None
    kubeconfig: Path | None = None
    gangs_in: str = ""
    gangs_prefer: str = ""
    minimum_run_time: str = ""
    policies: tuple[str, ...] = ()
    configurations: tuple[Path, ...] = ()
    load: float = 1.0
    window: str = ""
    warm_up: float = 0.0
    samples: int = 1
    seed: int = 1
    jitter: float = 600.0
    failures: str = ""
    limits: bool = False
    """Whether jobs get drawn run-time limits; otherwise the scheduler learns run times."""
    forecasts: bool = False
    """Whether starts are forecast, and counted against what happens."""


def check(request: Request) -> None:
    """Misuse: an option is out of bounds, or contradicts another one."""
    known = tuple(named_policies())
    unknown = [name for name in request.policies if name not in known]
    if unknown:
        raise Misuse(f"--policy: {unknown[0]!r} is none of {', '.join(known)}")
    if not 0 < request.load < 1e6:
        raise Misuse(f"--load: {request.load:g} is not a factor above 0")
    clusters = _cluster_options(request)
    if len(clusters) > 1:
        raise Misuse(f"{clusters[0]} and {clusters[1]} exclude each other: both say which nodes there are")
    for option, given in (("--policy", request.policies), ("--config", request.configurations)):
        twice = next((one for number, one in enumerate(given) if one in given[:number]), None)
        if twice is not None:
            raise Misuse(f"{option} {twice} and {option} {twice}: name each once, since both are the same")


def _cluster_options(request: Request) -> list[str]:
    """Those that were given, of which each names a cluster."""
    given = {
        "--nodes": request.nodes,
        "--node-list": request.node_list,
        "--snapshot": request.snapshot,
        "--kubeconfig": request.kubeconfig,
    }
    return [option for option, value in given.items() if value is not None]


def failure_rate(request: Request) -> FailureRate | None:
    """None if nodes do not fail."""
    if not request.failures:
        return None
    days, separator, hours = request.failures.partition(":")
    try:
        rate = FailureRate(float(days) * DAY, float(hours) * HOUR)
    except ValueError:
        rate = FailureRate(math.nan, math.nan)
    if not separator or not (0 < rate.between < math.inf and 0 < rate.repair < math.inf):
        raise Misuse(f"--failures: {request.failures!r} should be DAYS:HOURS, such as 30:4")
    return rate


@dataclass(frozen=True, slots=True)
class Work:
    """What is simulated. A recording also has nodes that come and go, and objects beside its jobs."""

    nodes: Sequence[Node]
    jobs: Sequence[TracedJob]
    failures: Sequence[NodeAbsence] = ()
    fixtures: Sequence[ClusterObject] = ()
    until: float = math.inf
    recorded: EngineOptions | None = None
    """The rules of the recording."""
    left_out: Sequence[LeftOut] = ()
    """Jobs of the trace that cannot be simulated."""


def work_of(request: Request) -> Work:
    """Read what the request names. Misuse, Problem: it cannot be used."""
    if request.trace.is_dir():
        return _recorded_work(request)
    nodes = cluster_of(request)
    if request.trace.suffix in MANIFEST_SUFFIXES:
        jobs, fixtures = read_arrivals(request.trace)
        jobs = _within(jobs, request)
        until = max((job.submit for job in jobs), default=0.0) + _run_out(jobs)
        return Work(nodes, jobs, fixtures=fixtures, until=until)
    reading = Reading(str(request.trace), request.gpus)
    jobs = jobs_of(request, reading)
    begin, end = _window(request.window)
    return Work(nodes, jobs, left_out=[one for one in reading.left_out if begin <= one.submit < end])


def _recorded_work(request: Request) -> Work:
    """On the nodes of the recording, unless the request names others."""
    try:
        _, options = recorded_options(request.trace)
        found = recorded_cluster(history_of(request.trace))
    except RecordingError as error:
        raise Problem(str(error)) from error
    jobs = _within(found.jobs, request)
    until = found.length + _run_out(jobs)
    if not _cluster_options(request):
        if request.topology:
            raise Misuse("--topology needs --nodes: nodes of the recording have their topology already")
        return Work(found.nodes, jobs, found.failures, found.fixtures, until, options)
    return Work(cluster_of(request), jobs, (), found.fixtures, until, options)


def _run_out(jobs: Sequence[TracedJob]) -> float:
    """How long after the last arrival jobs are watched that do not end, or do not start."""
    return sum(job.duration for job in jobs if job.duration < FOREVER) + DAY


def cluster_of(request: Request) -> list[Node]:
    try:
        levels = parse_topology(request.topology)
    except TopologyError as error:
        raise Misuse(f"--topology: {error}") from error
    named = [option for option in _cluster_options(request) if option != "--nodes"]
    if levels and named:
        raise Misuse(f"--topology and {named[0]} exclude each other: its nodes have their topology already")
    if request.snapshot is not None or request.kubeconfig is not None:
        with opened(request.kubeconfig, request.snapshot) as source:
            return [decode(Node, node) for node in source.objects(NODE, None, lambda _: None)]
    if request.node_list is not None:
        with _opened(request.node_list) as lines:
            return _read(lambda: read_nodes(lines, str(request.node_list), request.gpus))
    return equal_nodes(16 if request.nodes is None else request.nodes, request.gpus, levels)


def jobs_of(request: Request, reading: Reading) -> list[TracedJob]:
    is_swf = request.trace.name.removesuffix(".gz").endswith(".swf")
    with _opened(request.trace) as lines:
        jobs = _read(lambda: (read_swf if is_swf else read_csv)(lines, reading))
    return _within(jobs, request)


def _within(jobs: Sequence[TracedJob], request: Request) -> list[TracedJob]:
    """Jobs that arrive in the window, as much denser as the request says."""
    begin, end = _window(request.window)
    found = [
        replace(job, submit=(job.submit - begin) / request.load) for job in jobs if begin <= job.submit < end
    ]
    return with_limits(found, request.seed) if request.limits else found


def _window(text: str) -> tuple[float, float]:
    if not text:
        return 0.0, math.inf
    begin, separator, end = text.partition(":")
    try:
        bounds = float(begin or 0), float(end or math.inf)
    except ValueError:
        bounds = (math.nan, math.nan)
    if not separator or not 0 <= bounds[0] < bounds[1]:
        raise Misuse(f"--window: {text!r} should be FROM:TO in seconds, such as 86400:172800")
    return bounds


def policies_of(request: Request, work: Work) -> list[Policy]:
    """Without a choice, those of the recording, else `posse`."""
    key = _topology_key("--gangs-in", request.gangs_in, work.nodes)
    annotations = _annotations(request, work.nodes)
    names = request.policies
    found = []
    if not names and not request.configurations:
        if work.recorded is not None:
            found.append(configured_policy("recorded", work.recorded))
        else:
            names = ("posse",)
    found += [named_policies()[name] for name in names]
    files = [path.name for path in request.configurations]
    for path in request.configurations:
        name = path.name if files.count(path.name) == 1 else str(path)
        try:
            found.append(configured_policy(name, load_configuration(path).options))
        except ConfigurationError as error:
            raise unusable(error, path) from error
    return [replace(policy, topology_key=key, annotations=annotations) for policy in found]


def _annotations(request: Request, nodes: Sequence[Node]) -> dict[str, str]:
    """What all gangs prefer, or are protected by."""
    preferred = _topology_key("--gangs-prefer", request.gangs_prefer, nodes)
    minimum = request.minimum_run_time
    _, wrong = stated_seconds(MINIMUM_RUN_TIME, minimum or None)
    if wrong is not None:
        raise Misuse(f"--minimum-run-time: {value_text(wrong)}")
    stated = {PREFERRED_TOPOLOGY: preferred, MINIMUM_RUN_TIME: minimum}
    return {name: text for name, text in stated.items() if text}


def _topology_key(option: str, level: str, nodes: Sequence[Node]) -> str:
    if not level:
        return ""
    key = level if "/" in level else TOPOLOGY_PREFIX + level
    if not any(key in node.metadata.labels for node in nodes):
        raise Misuse(f"{option}: no node has the label {key}; see --topology and --node-list")
    return key


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            yield lines
    except FileNotFoundError as error:
        raise Problem(f"{path}: no such file or directory") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read: {error}") from error


def _read(read: Callable[[], list[T]]) -> list[T]:
    try:
        return read()
    except TraceError as error:
        raise Problem(str(error)) from error
