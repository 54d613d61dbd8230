"""Which subgroup of its replica a pod is in."""

from posse.model.leader_worker_set import LEADER_EXCLUDED


def leader_subgroup(policy_type: str) -> int | None:
    """The leader is in the first one, or in none."""
    return None if policy_type == LEADER_EXCLUDED else 0


def worker_subgroup(size: int, subgroup_size: int, worker: int) -> int:
    """Where only the workers can be divided evenly, the first subgroup has the leader as well."""
    is_leader_extra = (size - 1) % subgroup_size == 0 and size % subgroup_size != 0
    return (worker - 1 if is_leader_extra else worker) // subgroup_size
