"""The plugins of kube-scheduler by name, with default order and weights, and those built into Posse."""

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
"""In the order in which they run."""

PREEMPTION = "DefaultPreemption"
FULLNESS, PODS_COUNT = "NodeResourcesFit", "PodGroupPodsCount"
"""The plugins that score domains for a group."""

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
"""Part of the engine itself; always on."""

NOT_DONE = frozenset({"NodeDeclaredFeatures", "DeferredPodScheduling"})
"""Plugins of Kubernetes that Posse does not implement."""

REMOVED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Plugins removed from Kubernetes; NodeVolumeLimits replaces them."""

BUILT_IN = frozenset(entry.name for entry in DEFAULT_PLUGINS) | NOT_DONE
