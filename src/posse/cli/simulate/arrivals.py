"""Manifests as a trace: each arrives when its annotation says, and runs as long as its pods say."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from posse.cli.manifests import Manifest, read_manifests
from posse.cli.plan.expansion import expanded
from posse.cli.problems import Problem
from posse.cli.reading.snapshot_file import SnapshotSource, new_header
from posse.engine.events import ClusterObject
from posse.engine.options import EngineOptions
from posse.kinds.registry import NAMESPACE, PRIORITY_CLASS
from posse.kubelet.annotations import read_plan
from posse.model.decoding import decode
from posse.model.job import JobRunTime
from posse.model.pod import Pod
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.simulation.jobs import BEGIN, FOREVER, AnyGroup, JobObjects, TracedJob, gpus_of
from posse.simulation.workloads import is_group, workloads_of

ARRIVES_AT = "posse.dev/arrives-at"
"""Seconds after the start of the trace, on any manifest; without it, the start."""
MANIFEST_SUFFIXES = frozenset({".yaml", ".yml", ".json"})

_STRUCTS = dict(FOLLOWED_KINDS)
_SHARED = frozenset({NAMESPACE, PRIORITY_CLASS})


def read_arrivals(path: Path) -> tuple[list[TracedJob], list[ClusterObject]]:
    """Jobs in order of arrival, and objects beside them. Problem: a manifest cannot be used."""
    manifests = read_manifests(str(path))
    shared = [one for one in manifests if one.kind in _SHARED]
    batches: dict[float, list[Manifest]] = {}
    for one in manifests:
        if one.kind not in _SHARED:
            batches.setdefault(_arrival(one), []).append(one)
    jobs: list[TracedJob] = []
    fixtures: list[ClusterObject] = []
    for moment in sorted(batches):
        objects = list(_objects([*shared, *batches[moment]], moment))
        pods = [obj for obj in objects if isinstance(obj, Pod)]
        groups: list[AnyGroup] = [obj for obj in objects if is_group(obj)]  # type: ignore[misc]
        fixtures += [obj for obj in objects if not isinstance(obj, Pod) and not is_group(obj)]
        limits = {
            obj.metadata.uid: obj.spec.active_deadline_seconds
            for obj in objects
            if isinstance(obj, JobRunTime)
        }
        jobs += [
            _job(workload.name, moment, JobObjects(tuple(workload.groups), tuple(workload.pods)), limits)
            for workload in workloads_of(groups, pods)
        ]
    if not jobs:
        raise Problem(f"{path}: no pods would be created from these objects")
    return jobs, fixtures


def _arrival(manifest: Manifest) -> float:
    text = (manifest.obj["metadata"].get("annotations") or {}).get(ARRIVES_AT, "0")
    try:
        moment = float(text)
    except (TypeError, ValueError):
        moment = math.nan
    if not 0 <= moment < FOREVER:
        raise Problem(f"{manifest.origin}: {ARRIVES_AT}: {text!r} is not a number of seconds of 0 or more")
    return moment


def _objects(manifests: list[Manifest], moment: float) -> Iterator[ClusterObject]:
    place = {"metadata": {"name": "default", "uid": "default"}}
    header = new_header("default", BEGIN + moment, (kind for kind, _ in FOLLOWED_KINDS), ())
    source = SnapshotSource(header, {NAMESPACE.group_resource: [place]})
    for kind, obj in expanded(manifests, source, "default", EngineOptions().gates):
        # Uids of different moments are drawn from the same seed.
        for named in (obj["metadata"], *obj["metadata"].get("ownerReferences", ())):
            named["uid"] = f"{moment:g}/{named['uid']}"
        yield decode(_STRUCTS[kind], obj)


def _job(name: str, moment: float, objects: JobObjects, limits: Mapping[str, int | None]) -> TracedJob:
    """`limits` are those of Jobs, by uid."""
    plans = [read_plan(pod.metadata.annotations) for pod in objects.pods]
    complaint = next((one for plan in plans for one in plan.complaints), None)
    if complaint is not None:
        raise Problem(f"{name}: {complaint}")
    ends = [
        min(plan.run_seconds if plan.run_seconds is not None else FOREVER, _limit(pod, limits))
        for plan, pod in zip(plans, objects.pods, strict=True)
    ]
    first = objects.pods[0]
    return TracedJob(
        name,
        moment,
        max((end for end in ends if end < FOREVER), default=FOREVER),
        len(objects.pods),
        max(gpus_of(pod) for pod in objects.pods),
        queue=first.metadata.namespace,
        priority=first.spec.priority or 0,
        objects=objects,
    )


def _limit(pod: Pod, limits: Mapping[str, int | None]) -> float:
    """When the pod is ended at the latest, by itself or with its Job."""
    found = [
        pod.spec.active_deadline_seconds,
        *(limits.get(one.uid) for one in pod.metadata.owner_references),
    ]
    return min((float(one) for one in found if one is not None), default=FOREVER)
