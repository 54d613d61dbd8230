"""One attempt to place a group inside one domain of its topology key.

It yields the best feasible domain, or why none is feasible. Nominated members take their nodes if these are
still feasible. Otherwise a domain is chosen, unless running members pin it. Rules between pods see the whole
cluster; only the nodes that members may use are confined.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from posse.engine.causes import NoDomainFits, NoSuchDomain, RuleObjection
from posse.engine.groups.group_record import GroupRecord
from posse.engine.placement.gang.domain_bounds import DomainBounds, bounds, to_come
from posse.engine.placement.gang.domain_choice import DomainChoice
from posse.engine.placement.gang.domain_pin import common_domain, domains_of_members, pin_of
from posse.engine.placement.gang.exhaustive import ThoroughSearch
from posse.engine.placement.gang.member_pass import (
    Feasibility,
    Pass,
    describing_pass,
    objection,
    packs,
    pass_as_given,
    pass_if_possible,
)
from posse.engine.placement.gang.packing import packed_pass, tightest_of
from posse.engine.placement.gang.proof import missing
from posse.engine.placement.gang.shortfall import Shortfall, summaries
from posse.engine.placement.search.fill import classes_of, other_ways
from posse.engine.proof import Proof
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.invariants import no_gang_across_domains
from posse.engine.verdict import Code, Verdict

_MAX_REORDERED = 16
"""Domains in which other orders of the members are tried."""
_DIFFERENT_PODS = "pods that differ"
_MANY_DOMAINS = "so many domains"


@dataclass(frozen=True, slots=True)
class NoDomain:
    verdict: Verdict
    short: tuple[Shortfall, ...] = ()
    """Shortfalls in the domain that came closest."""


def place_in_domain(
    state: ClusterState,
    draft: Draft,
    group: GroupRecord,
    given: Mapping[str, str],
    thorough: ThoroughSearch | None,
) -> Pass | NoDomain:
    """If the group fits, its members are in the draft; otherwise the draft is unchanged.

    Given places are tried first. A thorough search, if wanted, tries every placement in the domains that
    might fit.
    """
    pin = pin_of(state, group)
    if pin.error:
        return NoDomain(Verdict(Code.ERROR, pin.error))
    found = _Trial(state, draft, group, pin.value).run(given, thorough)
    if isinstance(found, Pass):
        no_gang_across_domains(group.key, domains_of_members(state, group))
    return found


class _Trial:
    def __init__(self, state: ClusterState, draft: Draft, group: GroupRecord, pinned: str | None) -> None:
        self._state = state
        self._draft = draft
        self._group = group
        self._pinned = pinned
        self._classes = classes_of(state, group.unattached())
        self._made: Pass | None = None
        """The last pass."""
        self._objections: dict[str, RuleObjection] = {}
        """Objections of group rules to a placement, by rule."""

    def run(self, given: Mapping[str, str], thorough: ThoroughSearch | None) -> Pass | NoDomain:
        made = self._as_given(given)
        if made is not None:
            return made
        seen = bounds(self._state, self._group.topology_key, self._classes)
        if not len(seen.domains) or (self._pinned is not None and self._pinned not in seen.domains.values):
            nowhere = NoSuchDomain(self._group.topology_key, self._pinned)
            return NoDomain(Verdict(Code.UNRESOLVABLE, nowhere, Proof()))
        if (made := self._tightest(seen) or self._sized(seen)) is not None:
            return made
        choice = self._choice(seen)
        if choice.run() is not None and self._made is not None:
            return self._made
        made, proof = self._reordered(choice), self._proof(choice)
        if made is None and thorough is not None and proof.doubts:
            made = self._thoroughly(choice, thorough)
            proof = proof if self._objections or choice.left_over else thorough.proof(proof)
        return made if made is not None else self._refused(choice, proof)

    def _tightest(self, seen: DomainBounds) -> Pass | None:
        """The pass in the tightest domain for all pods, also those still expected, if groups are packed."""
        packing = self._state.profile(self._classes[0][0].pod_class).packing
        if packing is None or self._pinned is not None:
            return None
        further = to_come(self._group)
        wanted = further + sum(len(records) for _, records in self._classes)
        sized = bounds(self._state, self._group.topology_key, self._classes, further).counts
        among = tightest_of(self._state, seen.domains, self._classes, np.greater_equal(sized, wanted))
        choice = replace(self._choice(seen), among=among)
        return self._made if choice.run() is not None else None

    def _sized(self, seen: DomainBounds) -> Pass | None:
        """The pass in one of the domains with most room for the pods that exist and those still expected."""
        further = to_come(self._group)
        if not further or self._pinned is not None:
            return None
        sized = bounds(self._state, self._group.topology_key, self._classes, further).counts
        choice = replace(self._choice(seen), among=np.equal(sized, sized.max()))
        return self._made if choice.run() is not None else None

    def _as_given(self, given: Mapping[str, str]) -> Pass | None:
        if not given:
            return None
        value = common_domain(self._state, self._group.topology_key, given.values())
        domains = self._state.domains(self._group.topology_key)
        if value is None or value not in domains.values or self._pinned not in {None, value}:
            return None
        with self._state.confined(domains.rows(domains.values.index(value))):
            made = pass_as_given(self._state, self._draft, self._group, given)
        if made is not None and not self._is_acceptable(made):
            made.undo()
            return None
        return made

    def _choice(self, seen: DomainBounds) -> DomainChoice:
        scoring = self._state.profile(self._classes[0][0].pod_class).domain_scoring
        return DomainChoice(
            self._state,
            self._draft,
            seen,
            missing(self._group),
            self._place,
            scoring,
            self._group.attached_count,
            None if self._pinned is None else seen.domains.values.index(self._pinned),
        )

    def _place(self) -> int:
        packed = None
        if packs(self._state, self._group, self._classes):
            packed = packed_pass(self._state, self._draft, self._group, self._classes)
        self._made = packed or pass_if_possible(self._state, self._draft, self._group, self._classes)
        return self._made.placed if self._is_acceptable(self._made) else 0

    def _is_acceptable(self, made: Pass) -> bool:
        if not made.succeeded:
            return False
        against = objection(self._state, self._group)
        if against:
            self._objections[against.rule] = against
        return against is None

    def _reordered(self, choice: DomainChoice) -> Pass | None:
        """Try other orders of different pods in the most promising domains."""
        if len(self._classes) == 1:
            return None
        for number in _by_promise(choice)[:_MAX_REORDERED]:
            with self._state.confined(choice.bounds.domains.rows(number)):
                for ordered, way in other_ways(self._state, self._classes):
                    made = pass_if_possible(self._state, self._draft, self._group, ordered, way)
                    if self._is_acceptable(made):
                        return made
                    made.undo()
        return None

    def _thoroughly(self, choice: DomainChoice, thorough: ThoroughSearch) -> Pass | None:
        """Try every placement in each domain where the group might fit."""
        numbers = _by_promise(choice)
        for already, number in enumerate(numbers):
            with self._state.confined(choice.bounds.domains.rows(number)):
                made = thorough.run(len(numbers) - already)
            if made is not None and self._is_acceptable(made):
                return made
            if made is not None:
                made.undo()
        return None

    def _refused(self, choice: DomainChoice, proof: Proof) -> NoDomain:
        seen = choice.bounds
        closest = self._closest(choice)
        with self._state.confined(seen.domains.rows(closest)):
            made = describing_pass(self._state, self._draft, self._group, self._classes)
        code = Code.UNSCHEDULABLE if self._eviction_could_help(seen) else Code.UNRESOLVABLE
        return NoDomain(Verdict(code, self._cause(seen, closest, made), proof), tuple(made.short))

    def _cause(self, seen: DomainBounds, closest: int, made: Pass) -> NoDomainFits:
        minimum = self._group.minimum
        return NoDomainFits(
            self._group.topology_key,
            domains=len(seen.domains),
            best=seen.domains.values[closest],
            is_pinned=self._pinned is not None,
            has_minimum=minimum == 1 or made.progress.feasibility is Feasibility.SUCCESS,
            minimum=minimum,
            fit=made.attached + made.placed,
            placed=made.placed,
            short=summaries(made.short),
            objections=tuple(self._objections.values()),
        )

    def _closest(self, choice: DomainChoice) -> int:
        """The most promising of the domains that were tried, or of all if none was tried."""
        if choice.only is not None:
            return choice.only
        ordered = choice.bounds.best_first(0)
        return next((number for number in ordered if number in choice.tried), ordered[0])

    def _proof(self, choice: DomainChoice) -> Proof:
        """Bounds always prove infeasibility of a domain; a failed attempt does so only for identical pods."""
        if not (choice.tried or choice.left_over):
            return Proof()
        around = [
            name
            for scheduling_class, _ in self._classes
            for name in self._state.rules(scheduling_class).depends_on_other_nodes
        ]
        different = [_DIFFERENT_PODS] if len(self._classes) > 1 else []
        many = [_MANY_DOMAINS] if choice.left_over else []
        return Proof(tuple(dict.fromkeys([*different, *around, *self._objections, *many])))

    def _eviction_could_help(self, seen: DomainBounds) -> bool:
        """Whether some domain has enough members that no node refuses for good."""
        possible = np.zeros(len(seen.domains), dtype=np.int64)
        for scheduling_class, records in self._classes:
            open_rows = self._state.capacity(scheduling_class).resolvable().astype(np.int64)
            possible += len(records) * np.greater(seen.domains.sums(open_rows[seen.domains.members]), 0)
        enough = possible >= missing(self._group)
        return bool(enough.any() if self._pinned is None else enough[seen.domains.values.index(self._pinned)])


def _by_promise(choice: DomainChoice) -> list[int]:
    """The domains that were tried, most promising first."""
    promise = choice.bounds.counts
    return sorted(choice.tried, key=lambda one: (-int(promise[one]), one))
