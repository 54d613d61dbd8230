"""Webhooks and policies of admission that change pods, or that may refuse what Posse writes."""

from collections.abc import Iterator
from typing import Any

from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import DoctorFinding, note, warning

Json = dict[str, Any]

_EVERY = "*"
_GROUP_APIS = ("scheduling.k8s.io", "scheduling.posse.dev")
# What Posse writes; a webhook that is down and must answer (failurePolicy Fail) stops it.
_WRITTEN = (
    ("", "pods/binding"),
    ("", "pods/status"),
    *((group, "podgroups/status") for group in _GROUP_APIS),
)


def check_admission(facts: ClusterFacts) -> Iterator[DoctorFinding]:
    for configuration in facts.admission or ():
        is_mutating = str(configuration.get("kind", "")).startswith("Mutating")
        for hook in _hooks(configuration):
            yield from _of_hook(configuration, hook, is_mutating=is_mutating)


def _of_hook(configuration: Json, hook: Json, *, is_mutating: bool) -> Iterator[DoctorFinding]:
    kind, name = configuration["kind"], configuration["metadata"]["name"]
    title = f"{kind} {name}" + (f" ({hook['name']})" if hook.get("name") not in {None, name} else "")
    rules = hook.get("rules") or ()
    if is_mutating and any(_matches(rule, "", "pods", "CREATE") for rule in rules):
        yield note(
            f"{title} may change pods when they are created, where its selectors match",
            "if gangs do not start as written, compare a pod with its template: schedulerName, requests, "
            "nodeSelector, tolerations",
        )
    written = [
        resource for group, resource in _WRITTEN if any(_matches(rule, group, resource, "") for rule in rules)
    ]
    if written and hook.get("failurePolicy", "Fail") == "Fail":
        yield warning(
            f"{title} is asked about {', '.join(written)}; while it does not answer, nothing starts",
            "exclude these subresources from its rules, or set its failurePolicy to Ignore",
        )


def _hooks(configuration: Json) -> list[Json]:
    """Webhooks of a configuration; a policy is like one webhook."""
    if "webhooks" in configuration:
        return list(configuration["webhooks"] or ())
    spec = configuration.get("spec") or {}
    rules = (spec.get("matchConstraints") or {}).get("resourceRules") or ()
    return [{"rules": rules, "failurePolicy": spec.get("failurePolicy", "Fail")}]


def _matches(rule: Json, group: str, resource: str, operation: str) -> bool:
    """An empty operation stands for any."""
    operations = rule.get("operations") or (_EVERY,)
    if operation and not {operation, _EVERY} & set(operations):
        return False
    if not {group, _EVERY} & set(rule.get("apiGroups") or ()):
        return False
    plain, _, subresource = resource.partition("/")
    wanted = {resource, "*/*"} | ({f"{plain}/*", f"*/{subresource}"} if subresource else {_EVERY})
    return bool(wanted & set(rule.get("resources") or ()))
