"""All rules, with the weights of the default profile."""

from posse.engine.pods.policy import SYSTEM_SPREADING, PodPolicy
from posse.engine.rules.containers import ImageLocality, NodePorts
from posse.engine.rules.devices import DeviceClaimsUsable, DevicePreference, DynamicResources
from posse.engine.rules.inter_pod_affinity import InterPodAffinity, InterPodPreference
from posse.engine.rules.node_affinity import NamedNodes, NamesAgree, NodeAffinityRule, NodePreference
from posse.engine.rules.profile import Profile
from posse.engine.rules.resources import BalancedAllocation, ResourceScores, ResourcesFit
from posse.engine.rules.taints import NodeUnschedulable, TaintPreference, TaintToleration
from posse.engine.rules.topology_spread import SpreadPreference, TopologySpread
from posse.engine.rules.volume_binding import (
    BoundVolumesExist,
    ClaimsUsable,
    VolumeBinding,
    VolumePreference,
    VolumeZone,
)
from posse.engine.rules.volume_limits import ClaimsExist, VolumeLimits, VolumeRestrictions

DEFAULT_PROFILE = Profile(
    preconditions=(NamesAgree(), ClaimsExist(), ClaimsUsable(), BoundVolumesExist(), DeviceClaimsUsable()),
    narrowings=(NamedNodes(),),
    filters=(
        NodeUnschedulable(),
        TaintToleration(),
        NodeAffinityRule(),
        NodePorts(),
        ResourcesFit(),
        VolumeRestrictions(),
        VolumeLimits(),
        VolumeBinding(),
        VolumeZone(),
        TopologySpread(),
        InterPodAffinity(),
        DynamicResources(),
    ),
    row_scores=(ResourceScores(), BalancedAllocation(), ImageLocality()),
    relative_scores=(TaintPreference(), NodePreference()),
    cluster_scores=(SpreadPreference(), InterPodPreference(), VolumePreference(), DevicePreference()),
    policy=PodPolicy(spreading=SYSTEM_SPREADING),
)
