"""Sentences about why a pod or group was refused."""

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch

from posse.engine.causes import (
    Cause,
    ClassShortfall,
    ConfinedTo,
    GroupRefused,
    InBestDomain,
    LacksGroups,
    LacksPods,
    MissingResources,
    NoDomainFits,
    NoDomainForTree,
    NoneWaitingFits,
    NoNodeFits,
    NoSuchDomain,
    OutsideDomains,
    ResourceLack,
    RuleObjection,
    SeveralDomains,
    TooFewFit,
    TooFewGroups,
    TooManySteps,
    UnreadableResources,
)
from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from posse.engine.proof import Proof
from posse.engine.reporting.device_messages import device_sentences
from posse.model.quantity import canonical

NO_NODES = "no nodes available to schedule pods"
_BESIDE = "; with those placed,"
"""What the other pods lack is counted with these on their nodes."""
_MAX_CLASSES = 3
"""Classes of pods that a message describes one by one."""
_SELF_EVIDENT = MissingResources | UnreadableResources | NoSuchDomain | RuleObjection
"""Causes after which a sentence about the proof would add nothing."""


def cause_text(cause: Cause, proof: Proof | None = None) -> str:
    return " ".join(stopped(one) for one in proven_sentences(cause, proof))


def proven_sentences(cause: Cause, proof: Proof | None) -> list[str]:
    """Sentences including the one about the proof, without full stops."""
    return [*sentences(cause), *_proven(cause, proof)]


def proof_text(proof: Proof) -> str:
    return f"{_proof(proof)}."


def _proof(proof: Proof) -> str:
    if not proof.doubts:
        return "Proven: it cannot fit in the currently free capacity"
    if proof.exhausted:
        return "A placement may still exist: an exact search did not end within its budget"
    return f"A placement may still exist: the search is not exhaustive for {', '.join(proof.doubts)}"


def _proven(cause: Cause, proof: Proof | None) -> list[str]:
    return [_proof(proof)] if proof is not None and not isinstance(cause, _SELF_EVIDENT) else []


@singledispatch
def sentences(cause: Cause) -> list[str]:
    """Sentences without full stops; empty where nothing was refused."""
    if cause is None:
        return []
    raise TypeError(cause)


@sentences.register
def _(cause: NoNodeFits) -> list[str]:
    doubts = [_proof(cause.doubts)] if cause.doubts is not None and cause.doubts.doubts else []
    if not cause.nodes:
        return [NO_NODES, *doubts]
    if cause.is_precondition:
        return [f"0/{cause.nodes} nodes are available: {cause.refusals[0].reason}", *doubts]
    counts: dict[str, int] = {}
    for refusal in cause.refusals:
        counts[refusal.reason] = counts.get(refusal.reason, 0) + refusal.nodes
    reasons = sorted(f"{count} {reason}" for reason, count in counts.items())
    head = f"0/{cause.nodes} nodes are available: {', '.join(reasons)}"
    return [head, *device_sentences(cause.devices), *doubts]


@sentences.register
def _(cause: TooFewFit) -> list[str]:
    if cause.minimum == 1 or cause.fit >= cause.minimum:
        return _lacking("none of its waiting pods fits:", cause.short)
    beside = _BESIDE if cause.placed else ";"
    share = f"only {cause.fit}" if cause.fit else "none"
    return _lacking(f"{share} of the {cause.minimum} pods that must start together fit{beside}", cause.short)


@sentences.register
def _(cause: NoDomainFits) -> list[str]:
    head = _no_domain(cause)
    if cause.short:
        return _lacking(head, cause.short)
    return _headed(f"{head} ", [sentence for one in cause.objections for sentence in sentences(one)])


def _no_domain(cause: NoDomainFits) -> str:
    noun = domain_noun(cause.topology_key)
    if cause.is_pinned:
        return f"its pods run in {noun} {cause.best}, which has no room for the others:"
    head = f"0/{cause.domains} placements are available: "
    if cause.has_minimum:
        return f"{head}no {noun} takes any of its pods; in the best, {cause.best},"
    head = f"{head}no {noun} can hold the {cause.minimum} pods that must start together;"
    if not cause.fit:
        return f"{head} in the best, {cause.best}, none fits:"
    beside = _BESIDE if cause.placed else ";"
    return f"{head} the best, {cause.best}, has room for {cause.fit}{beside}"


@sentences.register
def _(cause: RuleObjection) -> list[str]:
    return [f"{cause.rule}: {cause.objection}"]


@sentences.register
def _(cause: OutsideDomains) -> list[str]:
    return [f"pods of the group run on node {cause.node}, which has no label {cause.topology_key}"]


@sentences.register
def _(cause: SeveralDomains) -> list[str]:
    return [f"more than 1 domain found for pod group: {', '.join(cause.domains)}"]


@sentences.register
def _(cause: NoSuchDomain) -> list[str]:
    where = f"no node has the label {cause.topology_key}"
    if cause.pinned is not None:
        domain = f"{domain_noun(cause.topology_key)} {cause.pinned}"
        where = f"its pods run in {domain}, which is not among the nodes it may use"
    return [f"no feasible placements found: {where}"]


@sentences.register
def _(cause: MissingResources) -> list[str]:
    name = cause.resource
    asked, left = amount_text(name, cause.wanted), amount_text(name, cause.free)
    text = f"its minResources ask for {asked} of {name}, and the cluster has {left} free for it"
    if not cause.reserved:
        return [text]
    promised = amount_text(name, cause.reserved)
    are = "is" if promised == "1" else "are"
    return [f"{text}, of which {promised} {are} set aside for groups that have started but lack pods"]


@sentences.register
def _(cause: UnreadableResources) -> list[str]:
    return [f"its minResources cannot be read: {cause.error}"]


@sentences.register
def _(cause: LacksPods) -> list[str]:
    exist = (
        f"{cause.present} of the {cause.minimum} pods it needs exist" if cause.is_gang else "it has no pods"
    )
    return [f"others of its group have finished, and {exist}" if cause.has_finished_members else exist]


@sentences.register
def _(cause: LacksGroups) -> list[str]:
    groups = f"{cause.able} of the {cause.minimum} groups it needs have the pods they need"
    if cause.minimum == 1:
        groups = "none of its groups has the pods it needs"
    if cause.existing < cause.minimum:
        return [f"{groups}; {f'only {cause.existing}' if cause.existing else 'none'} exist"]
    rest = f" and {cause.others} more" if cause.others else ""
    return [f"{groups}; not {', '.join(cause.lacking)}{rest}"]


@sentences.register
def _(cause: TooFewGroups) -> list[str]:
    fit = f"only {cause.fit}" if cause.fit else "none"
    share = f"{fit} of the {cause.minimum} groups that must start together fit"
    if cause.minimum == 1:
        share = "none of its groups fits"
    rest = [f"{cause.others} more of its groups do not fit either"] if cause.others else []
    return [*_headed(f"{share}; {title(cause.first)}: ", sentences(cause.cause)), *rest]


@sentences.register
def _(cause: NoDomainForTree) -> list[str]:
    where = f"no node it may use has the label {cause.topology_key}, or the value where its pods run"
    return [f"no feasible placements found: {where}"]


@sentences.register
def _(cause: InBestDomain) -> list[str]:
    best = f"{domain_noun(cause.topology_key)}, {cause.domain}"
    return _headed(
        f"0/{cause.domains} placements are available: in the best {best}, ", sentences(cause.cause)
    )


@sentences.register
def _(cause: ConfinedTo) -> list[str]:
    domain = f"{domain_noun(cause.topology_key)} {cause.domain}"
    return [*sentences(cause.cause), f"It must be in {domain}, where others of {title(cause.tree)} run"]


@sentences.register
def _(cause: NoneWaitingFits) -> list[str]:
    return _headed(f"none of its waiting pods fits: {title(cause.group)}: ", sentences(cause.cause))


@sentences.register
def _(_cause: TooManySteps) -> list[str]:
    return ["Deciding takes too long; others go first, and it is tried again with more time"]


@sentences.register
def _(cause: GroupRefused) -> list[str]:
    name = f"{title(cause.group)}: " if cause.group is not None else ""
    refused = _headed(f"pod group is unschedulable, {name}", sentences(cause.cause))
    return [*refused, *_proven(cause.cause, cause.proof)]


def _headed(head: str, following: Sequence[str]) -> list[str]:
    return [f"{head}{following[0]}", *following[1:]] if following else [head.strip()]


def _lacking(head: str, short: Sequence[ClassShortfall]) -> list[str]:
    """The lack of the pods, then the refusals by nodes."""
    reasons = list(dict.fromkeys(text for one in short[:_MAX_CLASSES] for text in sentences(one.cause)))
    alike = _by_lack(short)
    shown, rest = alike[:_MAX_CLASSES], sum(one.pods for one in alike[_MAX_CLASSES:])
    parts = [*map(shortfall_text, shown), *([f"{rest} others lack something too"] if rest else [])]
    lacks = f"{head} {', '.join(parts)}"
    return [lacks, *reasons] if any(one.lack for one in short) else _headed(f"{lacks}: ", reasons)


def _by_lack(short: Sequence[ClassShortfall]) -> list[ClassShortfall]:
    """Pods that lack the same share a sentence, however else they differ."""
    found: dict[ResourceLack | None, ClassShortfall] = {}
    for one in short:
        before = found.get(one.lack)
        found[one.lack] = replace(before, pods=before.pods + one.pods) if before is not None else one
    return list(found.values())


def shortfall_text(short: ClassShortfall) -> str:
    return f"{short.pods} {lack_text(short)}"


def lack_text(short: ClassShortfall) -> str:
    """The predicate of a sentence about these pods."""
    lack, is_one = short.lack, short.pods == 1
    if lack is None:
        return "finds no node" if is_one else "find no node"
    name, verb = lack.resource, "lacks" if is_one else "lack"
    asked = f"{name} ({amount_text(name, lack.wanted)}{'' if is_one else ' each'})"
    have = "nodes have" if lack.nodes > 1 else "node has"
    offer = f"{lack.nodes} {have} {_offer(name, lack)}"
    return f"{verb} {asked if name != PODS else 'a free pod slot'}: {offer}"


def _offer(name: str, lack: ResourceLack) -> str:
    if max(lack.free) > 0:
        return f"{_span(name, lack.free)} free of {_span(name, lack.capacity)}"
    return "none left" if max(lack.capacity) > 0 else "none"


def _span(name: str, ends: tuple[int, int]) -> str:
    least, most = (amount_text(name, end) for end in ends)
    return least if least == most else f"{least}-{most}"


def title(key: GroupKey) -> str:
    return f"{'composite pod group' if key.is_composite else 'pod group'} {key.name}"


def domain_noun(topology_key: str) -> str:
    """The noun for a domain in messages: the last part of the label's name."""
    return topology_key.rpartition("/")[2]


def amount_text(name: str, amount: int) -> str:
    """CPU in cores, memory in the largest unit that leaves a whole number of it."""
    if name == CPU:
        return canonical(f"{amount}m")
    if name in {MEMORY, EPHEMERAL_STORAGE} and amount:
        return _binary(amount)
    return str(amount)


def _binary(amount: int) -> str:
    for unit, size in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if amount >= size:
            shown = f"{amount / size:.1f}"
            return f"{shown.removesuffix('.0')}{unit}"
    return str(amount)


def stopped(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
