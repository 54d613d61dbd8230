"""Whether a pod may be evicted, and which disruption budget that is charged to. Pure.

A budget is charged before the pod is deleted, so two evictions cannot spend the same disruption.
"""

from collections.abc import Iterable, Sequence

from posse.kinds.machinery.errors import ApiError, forbidden
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import POD_DISRUPTION_BUDGET
from posse.kinds.scheduling.budget_status import SYNC_FAILED, with_condition
from posse.model.decoding import decode
from posse.model.disruption_budget import PodDisruptionBudgetSpec
from posse.model.pod import ENDED_PHASES
from posse.model.pod_readiness import ready_since
from posse.model.selectors import SelectorError, label_query
from posse.model.timestamps import format_timestamp

VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL_BUDGETS = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
)
# Evictions that a budget remembers at once; a controller that is far behind must not lose count.
MAX_DISRUPTED_PODS = 2000
RETRY_SECONDS = 10


def budget_to_charge(pod: Json, budgets: Iterable[Json]) -> Json | None:
    """Return the budget that pays for the eviction, None if none has to. Raises ApiError for a refusal."""
    found = covering_budgets(pod, budgets)
    if len(found) > 1:
        raise ApiError(500, "InternalError", SEVERAL_BUDGETS, {"causes": [{"message": SEVERAL_BUDGETS}]})
    if not found or not pays_for(found[0], pod):
        return None
    _check(found[0])
    return found[0]


def covering_budgets(pod: Json, budgets: Iterable[Json]) -> list[Json]:
    """Return the budgets, of the pod's namespace, that say something about its eviction."""
    return [] if _is_free(pod) else [budget for budget in budgets if _covers(budget, pod)]


def pays_for(budget: Json, pod: Json) -> bool:
    """Whether a budget that covers the pod loses a disruption by its eviction."""
    return ready_since(pod) is not None or not _lets_unhealthy_go(budget)


def is_outdated(budget: Json) -> bool:
    """Whether its status is about an earlier specification."""
    observed = (budget.get("status") or {}).get("observedGeneration") or 0
    return bool(observed < (budget["metadata"].get("generation") or 0))


def charged(budget: Json, pod_name: str, now: float) -> Json:
    """Return the budget after the eviction; its controller forgets the pod once that is seen to leave."""
    status = budget["status"]
    disrupted = (status.get("disruptedPods") or {}) | {pod_name: format_timestamp(now)}
    left = status | {"disruptionsAllowed": status["disruptionsAllowed"] - 1, "disruptedPods": disrupted}
    if not left["disruptionsAllowed"]:
        left = with_condition(left, status["observedGeneration"], now)
    return budget | {"status": left}


def marked_evicted(pod: Json, now: float) -> Json:
    """Return the pod with the condition that tells its controller why it goes."""
    status = pod.get("status") or {}
    others = [each for each in status.get("conditions") or () if each.get("type") != "DisruptionTarget"]
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastTransitionTime": format_timestamp(now),
    }
    return pod | {"status": status | {"conditions": [*others, condition]}}


def _is_free(pod: Json) -> bool:
    phase = (pod.get("status") or {}).get("phase") or "Pending"
    return phase == "Pending" or phase in ENDED_PHASES or "deletionTimestamp" in pod["metadata"]


def _covers(budget: Json, pod: Json) -> bool:
    try:
        query = label_query(decode(PodDisruptionBudgetSpec, budget.get("spec") or {}).selector)
    except SelectorError:
        return False
    return query.matches(pod["metadata"].get("labels") or {})


def _lets_unhealthy_go(budget: Json) -> bool:
    """Whether a pod that is not ready may go: it does not count among the healthy ones."""
    status = budget.get("status") or {}
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = status.get("desiredHealthy") or 0
    return desired > 0 and (status.get("currentHealthy") or 0) >= desired


def _check(budget: Json) -> None:
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if is_outdated(budget):
        raise _too_many(
            f"The disruption budget {name} is still being processed by the server.", RETRY_SECONDS
        )
    if len(status.get("disruptedPods") or {}) > MAX_DISRUPTED_PODS:
        text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden(POD_DISRUPTION_BUDGET, name, text)
    if not status.get("disruptionsAllowed"):
        raise _too_many(_exhausted(name, status), 0)


def _exhausted(name: str, status: Json) -> str:
    desired, current = status.get("desiredHealthy") or 0, status.get("currentHealthy") or 0
    failed = _failure(status.get("conditions") or ())
    if failed and desired <= current:
        text = "does not allow evicting pods currently because it failed sync"
        return f"The disruption budget {name} {text}: {failed}"
    return f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"


def _failure(conditions: Sequence[Json]) -> str:
    return next((each.get("message", "") for each in conditions if each.get("reason") == SYNC_FAILED), "")


def _too_many(cause: str, retry_seconds: int) -> ApiError:
    details: Json = {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    if retry_seconds:
        details["retryAfterSeconds"] = retry_seconds
    return ApiError(429, "TooManyRequests", VIOLATION, details)
