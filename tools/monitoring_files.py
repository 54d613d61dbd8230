"""The Grafana dashboard and the alert rules of deploy/monitoring, as data. `make deploy` writes them.

A test compares the metrics that they read with those that the scheduler serves.
"""

import json
from typing import NamedTuple

from posse.cli.manifest_text import manifest_text
from posse.kinds.machinery.kind import Json

WIDTH, HEIGHT, COLUMNS = 8, 8, 3
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Panel(NamedTuple):
    title: str
    unit: str
    queries: tuple[tuple[str, str], ...]
    """Expression and legend."""


class Alert(NamedTuple):
    name: str
    expression: str
    lasting: str
    severity: str
    summary: str
    help: str


def _quantile(share: float, metric: str) -> str:
    return f"histogram_quantile({share}, sum by (le) (rate({metric}_bucket[5m])))"


PANELS = (
    Panel(
        "Pods bound per second",
        "ops",
        (('sum(rate(scheduler_schedule_attempts_total{result="scheduled"}[5m]))', "bound"),),
    ),
    Panel(
        "Attempts that did not bind",
        "ops",
        (
            (
                'sum by (result) (rate(scheduler_schedule_attempts_total{result!="scheduled"}[5m]))',
                "{{result}}",
            ),
        ),
    ),
    Panel("Pending pods", "short", (("sum by (queue) (scheduler_pending_pods)", "{{queue}}"),)),
    Panel(
        "Waiting groups",
        "short",
        (('sum by (queue) (scheduler_queued_entities{type="podgroup"})', "{{queue}}"),),
    ),
    Panel(
        "Group attempts per second",
        "ops",
        (("sum by (result) (rate(scheduler_podgroup_schedule_attempts_total[5m]))", "{{result}}"),),
    ),
    Panel(
        "What is known about refused groups",
        "ops",
        (("sum by (verdict) (rate(posse_podgroup_verdicts_total[5m]))", "{{verdict}}"),),
    ),
    Panel(
        "Wait from free to be tried until bound",
        "s",
        tuple(
            (_quantile(share, "scheduler_pod_scheduling_sli_duration_seconds"), f"{share:.0%}")
            for share in (0.5, 0.99)
        ),
    ),
    Panel(
        "A round of deciding",
        "s",
        (
            *((_quantile(share, "posse_decide_duration_seconds"), f"{share:.0%}") for share in (0.5, 0.99)),
            ("max(posse_longest_decide_seconds)", "longest so far"),
        ),
    ),
    Panel(
        "Preemption",
        "ops",
        (
            ("sum(rate(scheduler_preemption_attempts_total[5m]))", "searches for pods"),
            (
                "sum by (result) (rate(scheduler_workload_preemption_attempts_total[5m]))",
                "for groups: {{result}}",
            ),
            ("sum(posse_preemptions_under_way)", "under way"),
        ),
    ),
    Panel(
        "Why pods do not fit",
        "short",
        (("topk(8, sum by (plugin) (scheduler_unschedulable_pods))", "{{plugin}}"),),
    ),
    Panel("Known of the cluster", "short", (("max by (type) (scheduler_cache_size)", "{{type}}"),)),
    Panel(
        "Trouble",
        "short",
        (
            ("sum(increase(posse_bind_refused_total[5m]))", "refused bindings"),
            ("max(posse_overcommitted_nodes)", "overcommitted nodes"),
            ("max(posse_longest_stall_seconds)", "longest stall (s)"),
        ),
    ),
)

ALERTS = (
    Alert(
        "PosseAbsent",
        "absent(posse_build_info)",
        "5m",
        "critical",
        "No Posse scheduler is scraped.",
        "Look at its pods: kubectl -n kube-system get pods -l app.kubernetes.io/name=posse",
    ),
    Alert(
        "PosseDecidesSlowly",
        f"{_quantile(0.99, 'posse_decide_duration_seconds')} > 2",
        "10m",
        "warning",
        "One in a hundred rounds of deciding takes more than two seconds.",
        "The log names what takes more than a second; --log-decisions shows the groups.",
    ),
    Alert(
        "PosseBindingsRefused",
        "sum(rate(posse_bind_refused_total[10m])) > 0.1",
        "10m",
        "warning",
        "The API server refuses bindings again and again.",
        "Another scheduler may bind the same pods; posse history and the log name them.",
    ),
    Alert(
        "PosseAttemptsFail",
        'sum(increase(scheduler_schedule_attempts_total{result="error"}[15m])) > 10',
        "15m",
        "warning",
        "Attempts to schedule pods end in errors.",
        "posse history lists what failed, and events of the pods say why.",
    ),
    Alert(
        "PosseNodesOvercommitted",
        "max(posse_overcommitted_nodes) > 0",
        "15m",
        "warning",
        "Nodes hold pods that request more than they have.",
        "Events of the nodes name the resource; two schedulers may share them.",
    ),
    Alert(
        "PossePreemptionStuck",
        "max(posse_preemptions_under_way) > 0",
        "30m",
        "warning",
        "Pods were evicted for others, which have not started since.",
        "posse gangs lists groups that wait for victims to terminate.",
    ),
    Alert(
        "PosseGroupsWait",
        'sum(scheduler_queued_entities{queue="unschedulable",type="podgroup"}) > 0',
        "6h",
        "info",
        "Groups have not fitted for hours.",
        "posse gangs says why, and posse explain what would let them start.",
    ),
)


def monitoring_files() -> dict[str, str]:
    return {
        "grafana-dashboard.json": json.dumps(dashboard(), indent=2) + "\n",
        "prometheus-rules.yaml": manifest_text([rules()]),
    }


def dashboard() -> Json:
    return {
        "title": "Posse",
        "uid": "posse",
        "tags": ["kubernetes", "scheduling"],
        "schemaVersion": 39,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": [_panel(number, panel) for number, panel in enumerate(PANELS)],
    }


def _panel(number: int, panel: Panel) -> Json:
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": {
            "x": WIDTH * (number % COLUMNS),
            "y": HEIGHT * (number // COLUMNS),
            "w": WIDTH,
            "h": HEIGHT,
        },
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": _SOURCE,
                "expr": expression,
                "legendFormat": legend,
            }
            for index, (expression, legend) in enumerate(panel.queries)
        ],
    }


def rules() -> Json:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "posse", "labels": {"app.kubernetes.io/name": "posse"}},
        "spec": {"groups": [{"name": "posse", "rules": [_rule(alert) for alert in ALERTS]}]},
    }


def _rule(alert: Alert) -> Json:
    return {
        "alert": alert.name,
        "expr": alert.expression,
        "for": alert.lasting,
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary, "description": alert.help},
    }
