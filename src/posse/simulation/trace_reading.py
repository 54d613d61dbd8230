"""Reads traces of jobs: CSV files of one schema, and SWF, the standard workload format of batch systems."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from posse.simulation.jobs import TracedJob

REQUIRED = ("job", "submit_s", "duration_s", "gpus")
OPTIONAL = ("nodes", "cpus", "user", "queue", "state", "priority")
WITHOUT_GPUS, WITHOUT_RUN_TIME = "without GPUs", "without a run time"
_SWF_FIELDS = 18
_PRIORITY_LIMIT = 1_000_000_000


class TraceError(ValueError):
    """The trace cannot be read; the message names file, line and field."""


class LeftOut(NamedTuple):
    """A job that cannot be simulated, such as one whose run time is not known."""

    line: int
    submit: float
    reason: str
    """As in "a job without GPUs"."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How rows become gangs."""

    file: str
    max_gpus_per_pod: int = 8
    """Where the trace does not say on how many nodes a job ran."""
    with_cpu_jobs: bool = False
    """Otherwise jobs without GPUs are left out."""
    left_out: list[LeftOut] = field(default_factory=list)
    """Filled while the trace is read."""


def read_csv(lines: Iterable[str], reading: Reading) -> list[TracedJob]:
    """TraceError: a column is missing or unknown, or a value is not what the column holds."""
    rows = csv.DictReader(lines)
    _check_columns(rows.fieldnames or (), reading)
    jobs, names, last = [], set(), -math.inf
    for number, row in enumerate(rows, start=2):
        job = _job_of_row(row, number, reading)
        if job.name in names:
            raise _fault(reading, number, "job", f"{job.name!r} is there twice")
        if job.submit < last:
            raise _fault(
                reading, number, "submit_s", f"{job.submit:g} is before the row above: sort by submit_s"
            )
        names.add(job.name)
        last = job.submit
        if job.gpus or reading.with_cpu_jobs:
            jobs.append(job)
        else:
            reading.left_out.append(LeftOut(number, job.submit, WITHOUT_GPUS))
    return jobs


def _check_columns(columns: Iterable[str], reading: Reading) -> None:
    found = set(columns)
    if missing := [name for name in REQUIRED if name not in found]:
        raise TraceError(f"{reading.file}: line 1: the column {missing[0]} is missing")
    if unknown := [name for name in columns if name not in (*REQUIRED, *OPTIONAL)]:
        known = ", ".join((*REQUIRED, *OPTIONAL))
        raise TraceError(f"{reading.file}: line 1: unknown column {unknown[0]!r}; columns are {known}")


def _job_of_row(row: Mapping[str, str], number: int, reading: Reading) -> TracedJob:
    if None in row or None in row.values():
        raise _fault(reading, number, "job", "the row has another number of fields than line 1")
    gpus = _whole(row, "gpus", number, reading)
    pods = (
        _whole(row, "nodes", number, reading)
        if row.get("nodes")
        else -(-gpus // reading.max_gpus_per_pod) or 1
    )
    if pods < 1:
        raise _fault(reading, number, "nodes", "must be at least 1")
    if gpus % pods:
        raise _fault(reading, number, "gpus", f"{gpus} GPUs cannot be divided among {pods} pods")
    priority = _whole(row, "priority", number, reading) if row.get("priority") else 0
    if priority > _PRIORITY_LIMIT:
        raise _fault(reading, number, "priority", f"must be at most {_PRIORITY_LIMIT}")
    duration = _seconds(row, "duration_s", number, reading)
    if duration <= 0:
        raise _fault(reading, number, "duration_s", "must be greater than 0")
    cpus = _seconds(row, "cpus", number, reading) if row.get("cpus") and not gpus else 0.0
    return TracedJob(
        name=row["job"],
        submit=_seconds(row, "submit_s", number, reading),
        duration=duration,
        pods=pods,
        gpus_per_pod=gpus // pods,
        cpu_milli_per_pod=math.ceil(cpus * 1000 / pods),
        user=row.get("user", ""),
        queue=row.get("queue", ""),
        priority=priority,
    )


def _whole(row: Mapping[str, str], name: str, number: int, reading: Reading) -> int:
    text = row[name]
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise _fault(reading, number, name, f"{text!r} is not a whole number of 0 or more")
    return int(text)


def _seconds(row: Mapping[str, str], name: str, number: int, reading: Reading) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise _fault(reading, number, name, f"{row[name]!r} is not a number of 0 or more")
    return value


def _fault(reading: Reading, line: int, field: str, reason: str) -> TraceError:
    return TraceError(f"{reading.file}: line {line}: {field}: {reason}")


def read_swf(lines: Iterable[str], reading: Reading) -> list[TracedJob]:
    """Processors of SWF count as GPUs. Jobs without a run time or processors are left out."""
    jobs = list(_swf_jobs(lines, reading))
    return sorted(jobs, key=lambda job: job.submit)


def _swf_jobs(lines: Iterable[str], reading: Reading) -> Iterator[TracedJob]:
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        fields = text.split()
        if len(fields) != _SWF_FIELDS:
            raise _fault(reading, number, "fields", f"there are {len(fields)}, SWF has {_SWF_FIELDS}")
        try:
            values = [float(field) for field in fields]
        except ValueError:
            raise _fault(reading, number, "fields", "not all of them are numbers") from None
        submit, run, processors = values[1], values[3], values[4] if values[4] > 0 else values[7]
        if run <= 0 or processors <= 0:
            reason = WITHOUT_RUN_TIME if run <= 0 else WITHOUT_GPUS
            reading.left_out.append(LeftOut(number, submit, reason))
            continue
        if submit < 0:
            raise _fault(reading, number, "submit time", f"{submit:g} is negative")
        gpus = int(processors)
        pods = -(-gpus // reading.max_gpus_per_pod)
        # A size that does not divide is rounded up to the next one that does.
        per_pod = -(-gpus // pods)
        yield TracedJob(f"job-{fields[0]}", submit, run, pods, per_pod, user=fields[11], queue=fields[14])
