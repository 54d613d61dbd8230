"""What a profile of a file may not say, and how it is told."""

import pytest

from tests.support.configurations import configured, disabled, enabled, problems


def wrong_set(point, entries, message, place):
    return {"plugins": {point: entries}}, f"plugins.{point}.{place}", message


def wrong_args(plugin, place, message, **args):
    return configured(plugin, **args), f"pluginConfig[0].args.{place}", message


def strategy(place, message, **fields):
    return wrong_args("NodeResourcesFit", f"scoringStrategy.{place}", message, scoringStrategy=fields)


def shape(place, message, *points):
    return strategy(
        f"requestedToCapacityRatio.shape{place}",
        message,
        type="RequestedToCapacityRatio",
        requestedToCapacityRatio={"shape": [{"utilization": u, "score": s} for u, s in points]},
    )


def constraint(place, message, **changes):
    usual = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}
    return wrong_args(
        "PodTopologySpread",
        f"defaultConstraints[0].{place}",
        message,
        defaultingType="List",
        defaultConstraints=[usual | changes],
    )


WRONG_PROFILES = {
    "unknown-plugin": wrong_set(
        "multiPoint",
        enabled("NodeResourceFit"),
        "there is no plugin 'NodeResourceFit'; did you mean NodeResourcesFit?",
        "enabled[0].name",
    ),
    "unknown-disabled": wrong_set(
        "score",
        disabled("Imagelocality"),
        "there is no plugin 'Imagelocality'; did you mean ImageLocality?",
        "disabled[0].name",
    ),
    "removed-plugin": wrong_set(
        "filter",
        disabled("EBSLimits"),
        "EBSLimits is no longer part of Kubernetes; NodeVolumeLimits does what it did",
        "disabled[0].name",
    ),
    "all-enabled": wrong_set("filter", enabled("*"), "there is no plugin '*'", "enabled[0].name"),
    "nameless": wrong_set("score", {"enabled": [{"weight": 3}]}, "is missing", "enabled[0].name"),
    "enabled-twice": wrong_set(
        "score",
        enabled("ImageLocality", "ImageLocality"),
        "ImageLocality is enabled twice; keep one",
        "enabled[1].name",
    ),
    "negative-weight": wrong_set(
        "score", enabled(ImageLocality=-1), "must not be negative, and is -1", "enabled[0].weight"
    ),
    "huge-weight": wrong_set(
        "score", enabled(ImageLocality=2**31), "must be at most 2147483647", "enabled[0].weight"
    ),
    "indispensable": wrong_set(
        "preEnqueue",
        disabled("SchedulingGates"),
        "SchedulingGates is part of Posse itself and cannot be disabled",
        "disabled[0].name",
    ),
    "score-as-filter": wrong_set(
        "filter",
        enabled("ImageLocality"),
        "ImageLocality has no rule for this point; remove it",
        "enabled[0].name",
    ),
    "filter-as-score": wrong_set(
        "score", enabled("NodePorts"), "NodePorts has no rule for this point; remove it", "enabled[0].name"
    ),
    "unknown-point": ({"plugins": {"filters": {}}}, "plugins.filters", "unknown field; did you mean filter?"),
    "args-of-nobody": (
        configured("NodePort"),
        "pluginConfig[0].name",
        "there is no plugin 'NodePort'; did you mean NodePorts?",
    ),
    "args-for-none": (
        configured("NodePorts"),
        "pluginConfig[0].name",
        "NodePorts takes no arguments; remove the entry",
    ),
    "args-twice": (
        {"pluginConfig": [{"name": "NodeAffinity"}, {"name": "NodeAffinity"}]},
        "pluginConfig[1].name",
        "NodeAffinity is configured twice; put its arguments together",
    ),
    "args-of-another-kind": wrong_args(
        "NodeAffinity",
        "kind",
        "must be NodeAffinityArgs, not 'NodeResourcesFitArgs'",
        kind="NodeResourcesFitArgs",
    ),
    "args-of-another-version": wrong_args(
        "NodeAffinity", "apiVersion", "must be kubescheduler.config.k8s.io/v1, not 'v1'", apiVersion="v1"
    ),
    "unknown-argument": wrong_args(
        "NodeAffinity", "added", "unknown field; there are addedAffinity, apiVersion, kind", added={}
    ),
    "argument-type": wrong_args(
        "InterPodAffinity",
        "hardPodAffinityWeight",
        "expected an integer, got a string",
        hardPodAffinityWeight="1",
    ),
    "no-strategy": strategy(
        "type",
        "'Best' is no strategy; use LeastAllocated, MostAllocated, RequestedToCapacityRatio",
        type="Best",
    ),
    "resource-weight-high": strategy(
        "resources[0].weight",
        "must be from 0 to 100, not 101",
        type="MostAllocated",
        resources=[{"name": "cpu", "weight": 101}],
    ),
    "resource-weight-low": strategy(
        "resources[0].weight",
        "must be from 0 to 100, not -1",
        type="MostAllocated",
        resources=[{"name": "cpu", "weight": -1}],
    ),
    "resource-twice": strategy(
        "resources[1].name",
        "cpu is listed twice",
        type="MostAllocated",
        resources=[{"name": "cpu"}, {"name": "cpu"}],
    ),
    "resource-nameless": strategy(
        "resources[0].name", "'' is no name of a resource", type="MostAllocated", resources=[{"weight": 1}]
    ),
    "no-ratio": strategy(
        "requestedToCapacityRatio",
        "is missing; RequestedToCapacityRatio needs a shape",
        type="RequestedToCapacityRatio",
    ),
    "ratio-in-vain": strategy(
        "requestedToCapacityRatio",
        "is only for type RequestedToCapacityRatio; remove it",
        type="MostAllocated",
        requestedToCapacityRatio={},
    ),
    "no-shape": shape("", "is empty; give at least one point"),
    "shape-unsorted": shape(
        "[1].utilization", "20 comes after 50; sort points by utilization", (50, 1), (20, 2)
    ),
    "shape-twice": shape(
        "[1].utilization", "50 comes after 50; sort points by utilization", (50, 1), (50, 2)
    ),
    "shape-too-wide": shape("[0].utilization", "must be from 0 to 100, not 101", (101, 1)),
    "shape-too-high": shape("[0].score", "must be from 0 to 10, not 11", (50, 11)),
    "shape-too-low": shape("[0].score", "must be from 0 to 10, not -1", (50, -1)),
    "ignored-name": wrong_args(
        "NodeResourcesFit", "ignoredResources[0]", "'a b' is no name of a resource", ignoredResources=["a b"]
    ),
    "ignored-group": wrong_args(
        "NodeResourcesFit",
        "ignoredResourceGroups[0]",
        "'a.example/b' is a resource; a group is what stands before its '/'",
        ignoredResourceGroups=["a.example/b"],
    ),
    "balance-weight": wrong_args(
        "NodeResourcesBalancedAllocation",
        "resources[0].weight",
        "must be from 0 to 1, not 2",
        resources=[{"name": "cpu", "weight": 2}],
    ),
    "affinity-operator": wrong_args(
        "NodeAffinity",
        "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator",
        'Invalid value: "Is": not a valid selector operator',
        addedAffinity={
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Is"}]}]
            }
        },
    ),
    "affinity-weight": wrong_args(
        "NodeAffinity",
        "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
        "Invalid value: 0: must be in the range 1-100",
        addedAffinity={"preferredDuringSchedulingIgnoredDuringExecution": [{"preference": {}}]},
    ),
    "defaulting-type": wrong_args(
        "PodTopologySpread", "defaultingType", "'None' is no type; use System or List", defaultingType="None"
    ),
    "system-with-list": wrong_args(
        "PodTopologySpread",
        "defaultingType",
        "must be List for defaultConstraints to be used",
        defaultConstraints=[{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}],
    ),
    "constraint-skew": constraint("maxSkew", "Invalid value: 0: must be greater than zero", maxSkew=0),
    "constraint-key": constraint("topologyKey", "Required value: can not be empty", topologyKey=""),
    "constraint-action": constraint(
        "whenUnsatisfiable", 'Unsupported value: "Wait"', whenUnsatisfiable="Wait"
    ),
    "constraint-selector": constraint(
        "labelSelector", "must not be set: it is deduced from the Services", labelSelector={}
    ),
    "hard-weight": wrong_args(
        "InterPodAffinity",
        "hardPodAffinityWeight",
        "must be from 0 to 100, not 101",
        hardPodAffinityWeight=101,
    ),
    "candidates": wrong_args(
        "DefaultPreemption",
        "minCandidateNodesPercentage",
        "must be from 0 to 100, not 101",
        minCandidateNodesPercentage=101,
    ),
    "candidates-negative": wrong_args(
        "DefaultPreemption",
        "minCandidateNodesAbsolute",
        "must be at least 0, not -1",
        minCandidateNodesAbsolute=-1,
    ),
    "no-candidates": wrong_args(
        "DefaultPreemption",
        "minCandidateNodesAbsolute",
        "must not be 0 if minCandidateNodesPercentage is 0 too",
        minCandidateNodesAbsolute=0,
        minCandidateNodesPercentage=0,
    ),
    "bind-timeout": wrong_args(
        "VolumeBinding", "bindTimeoutSeconds", "must be at least 0, not -1", bindTimeoutSeconds=-1
    ),
    "volume-shape": wrong_args(
        "VolumeBinding",
        "shape[0].score",
        "must be from 0 to 10, not 11",
        shape=[{"utilization": 0, "score": 11}],
    ),
    "queue-policy": (
        {"queuePolicy": "lottery"},
        "queuePolicy",
        "must be one of priority-fifo, backfill, shortest-expected, not 'lottery'",
    ),
    "packing-key": (
        {"packing": {"topologyKeys": ["example.com/a/rack"]}},
        "packing.topologyKeys[0]",
        "a valid label key",
    ),
    "packing-twice": (
        {"packing": {"topologyKeys": ["zone", "rack", "zone"]}},
        "packing.topologyKeys[2]",
        "zone is there twice; name each level once, the widest first",
    ),
}


@pytest.mark.parametrize("case", WRONG_PROFILES)
def test_what_is_wrong_with_a_profile_is_told_with_its_place(case):
    profile, path, message = WRONG_PROFILES[case]
    ((found, told),) = problems(profile).items()
    assert found == f"profiles[0].{path}"
    assert told.startswith(message)
