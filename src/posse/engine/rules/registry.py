"""All rules, with the weights of the default profile."""

from posse.engine.pods.default_spreading import SYSTEM_SPREADING
from posse.engine.pods.policy import PodPolicy
from posse.engine.rules.balanced_allocation import BalancedAllocation
from posse.engine.rules.image_locality import ImageLocality
from posse.engine.rules.inter_pod_affinity import InterPodAffinity
from posse.engine.rules.inter_pod_preference import InterPodPreference
from posse.engine.rules.node_affinity import NamedNodes, NamesAgree, NodeAffinityRule
from posse.engine.rules.node_ports import NodePorts
from posse.engine.rules.node_preference import NodePreference
from posse.engine.rules.node_unschedulable import NodeUnschedulable
from posse.engine.rules.profile import Profile
from posse.engine.rules.resource_scores import ResourceScores
from posse.engine.rules.resources_fit import ResourcesFit
from posse.engine.rules.spread_preference import SpreadPreference
from posse.engine.rules.taint_preference import TaintPreference
from posse.engine.rules.taint_toleration import TaintToleration
from posse.engine.rules.topology_spread import TopologySpread
from posse.engine.rules.volume_binding import ClaimsUsable, VolumeBinding
from posse.engine.rules.volume_limits import VolumeLimits
from posse.engine.rules.volume_preference import VolumePreference
from posse.engine.rules.volume_restrictions import ClaimsExist, VolumeRestrictions
from posse.engine.rules.volume_zone import BoundVolumesExist, VolumeZone

DEFAULT_PROFILE = Profile(
    preconditions=(NamesAgree(), ClaimsExist(), ClaimsUsable(), BoundVolumesExist()),
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
    ),
    row_scores=(ResourceScores(), BalancedAllocation(), ImageLocality()),
    relative_scores=(TaintPreference(), NodePreference()),
    cluster_scores=(SpreadPreference(), InterPodPreference(), VolumePreference()),
    policy=PodPolicy(spreading=SYSTEM_SPREADING),
)
