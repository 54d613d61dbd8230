"""Sentences about requests for devices that find too few."""

from collections.abc import Iterator, Sequence

from posse.engine.explain.device_lacks import DeviceLack
from posse.engine.reporting.messages import counted


def device_lines(lacks: Sequence[DeviceLack]) -> Iterator[str]:
    for lack in lacks:
        asked = counted(lack.wanted, "device") if lack.wanted else "all devices"
        wants = f"wants {asked} of class {lack.class_name}"
        yield f"claim {lack.claim}, request {lack.request}: {wants}; {_offer(lack)}"
        for place in lack.places:
            yield f"  {place.where} has {place.free} free of {place.matching}"
        for holder in lack.holders:
            users = f", in use by {', '.join(holder.users)}" if holder.users else ", not in use"
            yield f"  claim {holder.claim} holds {holder.devices} of them{users}"
        yield f"  {_help(lack)}"


def _offer(lack: DeviceLack) -> str:
    if not lack.matching:
        return "no device matches"
    tainted = f", {lack.tainted} with taints that it does not tolerate" if lack.tainted else ""
    return f"{lack.matching} match{tainted}"


def _help(lack: DeviceLack) -> str:
    """What would let the request find devices."""
    if not lack.matching:
        return "it would help to correct the selectors of the class or the claim, or to add such devices"
    if lack.finds_enough:
        return "enough are free in one place; what else the pod needs is not there"
    if lack.tainted == lack.matching:
        return "it would help to tolerate the taints, or to remove them"
    largest = max(place.matching for place in lack.places)
    if largest < lack.wanted:
        return f"no node has {lack.wanted} of them even if all were free: it would help to ask for fewer"
    return "it would help to free some that claims hold, or to add such devices"
