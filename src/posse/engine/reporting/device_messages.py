"""Sentences about claims that find no devices. They name the claim and the request."""

from collections.abc import Sequence
from functools import singledispatch

from posse.engine.causes import ClaimElsewhere, DeviceShortage

_MAX_REQUESTS = 3
"""Requests that a message describes one by one."""


def device_sentences(short: Sequence[DeviceShortage | ClaimElsewhere]) -> list[str]:
    """Sentences without full stops; empty where no claim is short of devices."""
    rest = len(short) - _MAX_REQUESTS
    more = [f"{rest} more {'request' if rest == 1 else 'requests'} found no devices"] if rest > 0 else []
    return [*map(_sentence, short[:_MAX_REQUESTS]), *more]


@singledispatch
def _sentence(short: DeviceShortage | ClaimElsewhere) -> str:
    raise TypeError(short)


@_sentence.register
def _(short: DeviceShortage) -> str:
    pools = f"; no devices come from {_pools(short.unusable_pools)}" if short.unusable_pools else ""
    return f"Claim {short.claim}, request {short.request}: {_offer(short)}{pools}"


@_sentence.register
def _(short: ClaimElsewhere) -> str:
    requests = f"request{'s' if len(short.requests) > 1 else ''} {', '.join(short.requests)}"
    return f"Claim {short.claim}, {requests}: its devices cannot be used from these nodes"


def _offer(short: DeviceShortage) -> str:
    of_class = f"of class {short.class_name}"
    if not short.matching:
        return f"no node has a matching device {of_class}"
    if not short.tolerated:
        return f"matching devices {of_class} have taints that it does not tolerate"
    if short.is_met_alone:
        return f"it finds devices {of_class} by itself, but not together with what else the pod claims"
    if not short.wanted:
        return f"it wants all matching devices {of_class}, and no node can give all that it has"
    wants = f"it wants {short.wanted} {'device' if short.wanted == 1 else 'devices'} {of_class}"
    if short.free >= short.wanted:
        return f"{wants}; some are free, but too little of their capacity, or their attributes differ"
    most = f"more than {short.free}" if short.free else "one" if short.wanted == 1 else "any"
    return f"{wants}, and no node has {most} free"


def _pools(names: Sequence[str]) -> str:
    are = f"pool {names[0]}, which is" if len(names) == 1 else f"pools {', '.join(names)}, which are"
    return f"{are} incomplete or invalid"
