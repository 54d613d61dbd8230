"""The kinds of objects that quotas count."""

from posse.kinds.registry import (
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    JOB_SET,
    LEADER_WORKER_SET,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_GROUP,
    REPLICA_SET,
    RESOURCE_CLAIM,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE,
    STATEFUL_SET,
)

QUOTA_KINDS = (
    POD,
    PERSISTENT_VOLUME_CLAIM,
    SERVICE,
    CONFIG_MAP,
    SECRET,
    JOB,
    CRON_JOB,
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
    JOB_SET,
    LEADER_WORKER_SET,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_QUOTA,
)
