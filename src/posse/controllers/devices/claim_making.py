"""Makes claims from templates: one for each entry of a pod or PodGroup, named in the status of its owner.

An entry that a pod has in common with its group stands for the claim of the group. For pods that were bound
without a scheduler, claims that are allocated already are reserved.
"""

from collections import defaultdict
from typing import Any

from posse.controllers.devices.claims import (
    claim_names,
    consumer_of,
    consumers_of,
    entries_of,
    group_name,
    is_done,
    made_for,
    may_be_reserved,
    new_claim,
    shares_entry,
    statuses_of,
)
from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import EventDedup, Reconciler, Touched
from posse.controllers.steps import Amend, Create, News, Plan, Step, controller_uid, is_deleting
from posse.kinds.machinery.errors import not_found
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import POD, POD_GROUP, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE

Json = dict[str, Any]

FAILED_CREATION = "FailedResourceClaimCreation"


class _ClaimMaker(Reconciler):
    """Keys are uids of owners. Owners without claims are not remembered."""

    owner_kind: Kind
    entry_word: str

    def __init__(self) -> None:
        self._known = ObservedObjects()
        self._interested: defaultdict[tuple[Kind, str, str], dict[str, None]] = defaultdict(dict)
        """The owners that name a template, claim or group."""
        self._told = EventDedup()
        self.touched = Touched()

    def subject(self, key: str) -> Json | None:
        return self._known.get(key)

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is self.owner_kind and not entries_of(obj):
            return
        if not self._known.see(kind, obj):
            return
        if kind is self.owner_kind:
            for place in self._places_of_interest(obj):
                self._interested[place][obj["metadata"]["uid"]] = None
            self.touched.add(obj["metadata"]["uid"])
        else:
            self._touch(kind, obj)

    def lose(self, kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if kind is self.owner_kind:
            known = self._known.get(uid)
            for place in self._places_of_interest(known) if known is not None else ():
                self._interested[place].pop(uid, None)
                if not self._interested[place]:
                    del self._interested[place]
            self._told.forget(uid)
        self._known.lose(obj)
        if kind is not self.owner_kind:
            self._touch(kind, obj)

    def _touch(self, kind: Kind, obj: Json) -> None:
        place = (kind, obj["metadata"]["namespace"], obj["metadata"]["name"])
        self.touched.add(*self._interested.get(place, ()))
        owner = controller_uid(obj)
        if kind is RESOURCE_CLAIM and owner and self._known.get(owner) is not None:
            self._touch_owner(owner)

    def _touch_owner(self, uid: str) -> None:
        self.touched.add(uid)

    def _places_of_interest(self, owner: Json) -> list[tuple[Kind, str, str]]:
        namespace = owner["metadata"]["namespace"]
        templates = (entry.get("resourceClaimTemplateName") for entry in entries_of(owner))
        return [(RESOURCE_CLAIM_TEMPLATE, namespace, name) for name in templates if name]

    def _made(self, owner: Json, entry: Json) -> tuple[Json | None, Create | str]:
        """The claim of an entry, or the step that makes it, or why that is impossible."""
        name, namespace = entry["name"], owner["metadata"]["namespace"]
        claim = made_for(self._known.owned_by(owner["metadata"]["uid"], RESOURCE_CLAIM), name)
        if claim is not None:
            return claim, ""
        template_name = entry["resourceClaimTemplateName"]
        template = self._known.at(RESOURCE_CLAIM_TEMPLATE, namespace, template_name)
        if template is None:
            reason = not_found(RESOURCE_CLAIM_TEMPLATE, template_name)
            problem = f'resource claim template "{template_name}": {reason}'
            return None, f"{self.entry_word} {name}: {problem}"
        return None, Create(
            RESOURCE_CLAIM, new_claim(self.owner_kind, owner, name, template), failure=FAILED_CREATION
        )

    def _make_all(self, owner: Json, entries: list[Json]) -> Plan:
        """Make what is missing; once everything is there, name it in the status."""
        made, missing, problems = dict[str, str](), list[Step](), list[str]()
        for entry in entries:
            claim, step = self._made(owner, entry)
            if claim is not None:
                made[entry["name"]] = claim["metadata"]["name"]
            elif isinstance(step, str):
                problems.append(step)
            else:
                missing.append(step)
        plan = self._named(owner, made)
        plan.then(*missing)
        if problems:
            news = News(FAILED_CREATION, problems[0], is_warning=True)
            plan.news += self._told.plan(owner["metadata"]["uid"], news).news
        return plan

    def _named(self, owner: Json, made: dict[str, str]) -> Plan:
        known, plan = statuses_of(owner), Plan()
        news = [
            {"name": name, "resourceClaimName": claim}
            for name, claim in made.items()
            if known.get(name) != claim
        ]
        if news:
            patch = {"metadata": {"uid": owner["metadata"]["uid"]}, "status": {"resourceClaimStatuses": news}}
            plan.then(Amend(self.owner_kind, owner, patch, "status", is_strategic=True))
        return plan


class GroupClaims(_ClaimMaker):
    """The claims of PodGroups."""

    reporter = "resource_claim"
    kinds = (RESOURCE_CLAIM_TEMPLATE, RESOURCE_CLAIM, POD_GROUP)
    owner_kind = subject_kind = POD_GROUP
    entry_word = "PodGroupResourceClaim"

    def plan(self, key: str, _now: float) -> Plan:
        group = self._known.get(key)
        if group is None or is_deleting(group):
            return Plan()
        return self._make_all(
            group, [each for each in entries_of(group) if each.get("resourceClaimTemplateName")]
        )


class PodClaims(_ClaimMaker):
    """The claims of pods."""

    reporter = "resource_claim"
    kinds = (RESOURCE_CLAIM_TEMPLATE, RESOURCE_CLAIM, POD_GROUP, POD)
    owner_kind = subject_kind = POD
    entry_word = "PodResourceClaim"

    def plan(self, key: str, _now: float) -> Plan:
        pod = self._known.get(key)
        if pod is None or is_deleting(pod) or is_done(pod):
            return Plan()
        group = self._known.at(POD_GROUP, pod["metadata"]["namespace"], group_name(pod))
        if group is None and group_name(pod) and not pod["spec"].get("nodeName"):
            # Which claims are the group's is not known yet, and the pod does not start without its group.
            return Plan()
        wanted = [entry for entry in entries_of(pod) if entry.get("resourceClaimTemplateName")]
        own = [entry for entry in wanted if not shares_entry(group, entry)]
        plan = self._make_all(pod, own)
        plan.stages += self._named(pod, self._claims_of_group(group, wanted)).stages
        if pod["spec"].get("nodeName"):
            plan.then(*self._reservations(pod, group))
        return plan

    def _claims_of_group(self, group: Json | None, entries: list[Json]) -> dict[str, str]:
        shared = [entry["name"] for entry in entries if shares_entry(group, entry)]
        claims = self._known.owned_by(group["metadata"]["uid"], RESOURCE_CLAIM) if group is not None else []
        found = {name: made_for(claims, name) for name in shared}
        return {name: claim["metadata"]["name"] for name, claim in found.items() if claim is not None}

    def _reservations(self, pod: Json, group: Json | None) -> list[Step]:
        """A scheduler has reserved the claims before it bound the pod; then there is nothing to do."""
        steps: list[Step] = []
        for entry, name in claim_names(pod):
            claim = self._known.at(RESOURCE_CLAIM, pod["metadata"]["namespace"], name)
            if claim is None or not may_be_reserved(claim):
                continue
            by_group = group is not None and shares_entry(group, entry)
            consumer = (
                consumer_of(POD_GROUP, group) if group is not None and by_group else consumer_of(POD, pod)
            )
            if all(each["uid"] != consumer["uid"] for each in consumers_of(claim)):
                patch = {"metadata": {"uid": claim["metadata"]["uid"]}, "status": {"reservedFor": [consumer]}}
                steps.append(Amend(RESOURCE_CLAIM, claim, patch, "status", is_strategic=True))
        return steps

    def _touch_owner(self, uid: str) -> None:
        """A claim of a group concerns its members."""
        owner = self._known.get(uid)
        if owner is not None and "resourceClaims" in owner["spec"] and "containers" not in owner["spec"]:
            place = (POD_GROUP, owner["metadata"]["namespace"], owner["metadata"]["name"])
            self.touched.add(*self._interested.get(place, ()))
        else:
            self.touched.add(uid)

    def _places_of_interest(self, owner: Json) -> list[tuple[Kind, str, str]]:
        namespace, group = owner["metadata"]["namespace"], group_name(owner)
        places = super()._places_of_interest(owner)
        places += [(RESOURCE_CLAIM, namespace, name) for _, name in claim_names(owner)]
        return [*places, (POD_GROUP, namespace, group)] if group else places
