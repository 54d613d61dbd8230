"""What a pod as it is stored asks for and is limited to, in thousandths."""

from collections import Counter
from collections.abc import Iterable, Mapping

from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json
from posse.model.quantity import milli_value

Amounts = Counter[str]


def milli_amounts(amounts: Mapping[str, str]) -> Amounts:
    return Counter({name: milli_value(amount) for name, amount in amounts.items()})


def pod_amounts(pod: Json, side: str) -> Amounts:
    """Return the sum of all containers, or the largest need while initialising; `side`: requests, limits."""
    spec = section(pod, "spec")
    total, starting, sidecars = _sum(entries(spec, "containers"), side), Counter[str](), Counter[str]()
    for container in entries(spec, "initContainers"):
        amounts = _of(container, side)
        if container.get("restartPolicy") == "Always":
            sidecars += amounts
            starting |= sidecars
        else:
            starting |= sidecars + amounts
    total = (total + sidecars) | starting
    for name, amount in _of(spec, side).items():
        total[name] = amount
    return total + milli_amounts(spec.get("overhead") or {}) if side == "requests" or total else total


def _sum(containers: Iterable[Json], side: str) -> Amounts:
    return sum((_of(container, side) for container in containers), Counter())


def _of(holder: Json, side: str) -> Amounts:
    return milli_amounts((holder.get("resources") or {}).get(side) or {})
