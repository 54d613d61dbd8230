"""Groups and their pods in every form but the native one, tersely."""

from posse.engine.groups.forms import (
    COSCHEDULING,
    COSCHEDULING_LABEL,
    NATIVE,
    POSSE,
    POSSE_LABEL,
    VOLCANO,
    VOLCANO_ANNOTATION,
    WORKLOAD_REF,
)
from posse.model import coscheduling, volcano
from posse.model.meta import ObjectMeta
from posse.model.pod import PodWorkloadReference
from posse.model.workload import (
    BasicSchedulingPolicy,
    GangSchedulingPolicy,
    PodGroupSchedulingPolicy,
    PodGroupTemplate,
    Workload,
    WorkloadSpec,
)
from tests.support.builders import NAMESPACE, changed, gang, pod


def metadata(name, uid=""):
    return ObjectMeta(name=name, namespace=NAMESPACE, uid=uid or f"group-{name}")


def workload(name="w", *, uid="", priority_class_name="", priority=None, **minimums):
    """A Workload with one group per keyword: a gang of that minimum, or a basic group if it is None."""
    templates = tuple(
        PodGroupTemplate(
            name=group,
            scheduling_policy=_policy(minimum),
            priority_class_name=priority_class_name,
            priority=priority,
        )
        for group, minimum in minimums.items()
    )
    return Workload(metadata=metadata(name, uid), spec=WorkloadSpec(pod_group_templates=templates))


def _policy(minimum):
    if minimum is None:
        return PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
    return PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=minimum))


def posse_gang(name="g1", minimum=2, **spec):
    return changed(gang(name, minimum, **spec), api_version=f"{POSSE.name}/v1alpha1")


def coscheduling_gang(name="g1", minimum=2, *, phase="", uid="", **spec):
    return coscheduling.CoschedulingPodGroup(
        metadata=metadata(name, uid),
        spec=coscheduling.CoschedulingPodGroupSpec(min_member=minimum, **spec),
        status=coscheduling.CoschedulingPodGroupStatus(phase=phase),
    )


def volcano_gang(name="g1", minimum=2, *, phase="", conditions=(), **spec):
    return volcano.VolcanoPodGroup(
        metadata=metadata(name),
        spec=volcano.VolcanoPodGroupSpec(min_member=minimum, **spec),
        status=volcano.VolcanoPodGroupStatus(phase=phase, conditions=tuple(conditions)),
    )


def member(name, form, group="g1", *, pod_group="a", key="", **description):
    """A pod that names its group in the given form; for a Workload `group` is its name."""
    if form is WORKLOAD_REF:
        reference = PodWorkloadReference(name=group, pod_group=pod_group, pod_group_replica_key=key)
        return pod(name, workload_ref=reference, **description)
    if form is NATIVE:
        return pod(name, group=group, **description)
    return named(pod(name, **description), form, group)


def named(one, form, group="g1"):
    """The pod with the label or annotation by which that form names a group."""
    if form is VOLCANO:
        return changed(one, metadata={"annotations": {VOLCANO_ANNOTATION: group}})
    label = POSSE_LABEL if form is POSSE else COSCHEDULING_LABEL
    return changed(one, metadata={"labels": {**one.metadata.labels, label: group}})


def describing(form, minimum=2, name="g1"):
    """What describes a gang in that form."""
    makers = {
        NATIVE: gang,
        POSSE: posse_gang,
        COSCHEDULING: coscheduling_gang,
        VOLCANO: volcano_gang,
    }
    return workload(name, a=minimum) if form is WORKLOAD_REF else makers[form](name, minimum)
