"""The dashboard and the alert rules read metrics and labels that the scheduler serves."""

import json
import re

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.runtime.scheduling.metrics import Metrics
from tools.monitoring_files import ALERTS, PANELS, monitoring_files

NAME = re.compile(r"\b(?:posse|scheduler)_[a-z0-9_]+")


@pytest.fixture(scope="module")
def served():
    """Names of everything on /metrics, those of series without samples included."""
    metrics = Metrics(lambda: Engine(EngineOptions()).statistics(), lambda: 0.0)
    found = set()
    for family in text_string_to_metric_families(metrics.page("text/plain")[0].decode()):
        if family.type == "counter":
            found.add(f"{family.name}_total")
        elif family.type == "histogram":
            found |= {f"{family.name}_{suffix}" for suffix in ("bucket", "sum", "count")}
        elif family.type == "info":
            found.add(f"{family.name}_info")
        else:
            found.add(family.name)
    return found


EXPRESSIONS = [expression for panel in PANELS for expression, _ in panel.queries]
EXPRESSIONS += [alert.expression for alert in ALERTS]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_that_is_read_is_served(served, expression):
    names = set(NAME.findall(expression))
    assert names
    assert names <= served


def test_panels_do_not_overlap_and_alerts_say_what_to_do():
    panels = json.loads(monitoring_files()["grafana-dashboard.json"])["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels) == len(PANELS)
    (group,) = yaml.safe_load(monitoring_files()["prometheus-rules.yaml"])["spec"]["groups"]
    assert all(rule["annotations"]["description"] for rule in group["rules"])
