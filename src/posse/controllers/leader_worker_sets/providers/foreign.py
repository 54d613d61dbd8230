"""What the providers for other schedulers have in common: no object for the whole set, and groups called as upstream calls them."""

from typing import Any

from posse.controllers.leader_worker_sets.providers.contract import Made
from posse.controllers.leader_worker_sets.providers.naming import group_name
from posse.model.leader_worker_set import LeaderWorkerSetSpec

Json = dict[str, Any]


class ForeignGroups:
    is_group_per_leader = False
    waits_for_all = True

    def blueprint(self, _lws: Json, _spec: LeaderWorkerSetSpec) -> Made | None:
        return None

    def prepare(self, _lws: Json, _spec: LeaderWorkerSetSpec, _template: Json) -> None:
        return None

    def name_group(self, leader: Json, incarnation: str) -> str:
        return group_name(leader, incarnation)
