"""The plugins of kube-scheduler by name: their order and weights by default, and which of them Posse does in its own way."""

from posse.configuration.shapes import PluginEntry

DEFAULT_PLUGINS = (
    PluginEntry(name="SchedulingGates"),
    PluginEntry(name="PrioritySort"),
    PluginEntry(name="NodeName"),
    PluginEntry(name="NodeUnschedulable"),
    PluginEntry(name="TaintToleration", weight=3),
    PluginEntry(name="NodeAffinity", weight=2),
    PluginEntry(name="NodePorts"),
    PluginEntry(name="NodeResourcesFit", weight=1),
    PluginEntry(name="VolumeRestrictions"),
    PluginEntry(name="NodeVolumeLimits"),
    PluginEntry(name="VolumeBinding"),
    PluginEntry(name="VolumeZone"),
    PluginEntry(name="PodTopologySpread", weight=2),
    PluginEntry(name="InterPodAffinity", weight=2),
    PluginEntry(name="DynamicResources", weight=2),
    PluginEntry(name="DefaultPreemption"),
    PluginEntry(name="NodeResourcesBalancedAllocation", weight=1),
    PluginEntry(name="ImageLocality", weight=1),
    PluginEntry(name="DefaultBinder"),
    PluginEntry(name="NodeDeclaredFeatures"),
    PluginEntry(name="GangScheduling"),
    PluginEntry(name="TopologyPlacementGenerator"),
    PluginEntry(name="PodGroupPodsCount", weight=1),
)
"""In the order in which they are asked."""

PREEMPTION = "DefaultPreemption"
FULLNESS, PODS_COUNT = "NodeResourcesFit", "PodGroupPodsCount"
"""What gives points to a domain that a group might go to."""

INDISPENSABLE = frozenset(
    {
        "SchedulingGates",
        "PrioritySort",
        "NodeName",
        "DefaultBinder",
        "GangScheduling",
        "TopologyPlacementGenerator",
        "PodGroupPodsCount",
    }
)
"""What these do is part of the engine itself, and always on."""

NOT_DONE = frozenset({"DynamicResources", "NodeDeclaredFeatures", "DeferredPodScheduling"})
"""Kubernetes knows them; Posse does not do what they do."""

REMOVED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Kubernetes knew them once; NodeVolumeLimits does what they did."""

BUILT_IN = frozenset(entry.name for entry in DEFAULT_PLUGINS) | NOT_DONE
