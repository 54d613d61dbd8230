"""What a scraper, a reader of the decision log and a reader of events see of a running cluster, together."""

import asyncio
import json
import logging
import ssl
import urllib.error
import urllib.request
from base64 import b64decode

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from posse.kinds.registry import POD, POD_GROUP
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.logs import DECISIONS
from posse.runtime.process.options import ClusterOptions

OURS = "default-scheduler"
PATIENCE_SECONDS = 20.0


class Scraper:
    def __init__(self, kubeconfig):
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self.server = cluster["server"]
        self.token = config["users"][0]["user"]["token"]
        authority = b64decode(cluster["certificate-authority-data"]).decode()
        self.context = ssl.create_default_context(cadata=authority)

    def ask(self, method="GET", token=None, path="/metrics"):
        headers = {"Authorization": f"Bearer {token or self.token}"}
        request = urllib.request.Request(self.server + path, method=method, headers=headers)
        return urllib.request.urlopen(request, context=self.context)

    def values(self):
        with self.ask() as answer:
            text = answer.read().decode()
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def events(self):
        with self.ask(path="/api/v1/namespaces/default/events") as answer:
            return json.load(answer)["items"]

    def refusal(self, **request):
        with pytest.raises(urllib.error.HTTPError) as refused:
            self.ask(**request)
        refused.value.close()
        return refused.value.code


def during(directory, scenario):
    """Run `scenario(cluster, scraper)` in a cluster of two nodes with eight GPUs each."""

    async def main():
        cluster = EmbeddedCluster(ClusterOptions(data_dir=directory / "data", port=0, node_count=2))
        await cluster.start()
        try:
            await scenario(cluster, Scraper(directory / "data" / "kubeconfig"))
        finally:
            await cluster.stop()

    asyncio.run(main())


async def until(look, holds):
    """Look again and again until it shows what it should, and return that."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            seen = await asyncio.to_thread(look)
            if holds(seen):
                return seen
            await asyncio.sleep(0.05)


def workload():
    policy = {"gang": {"minCount": 2}}
    members = [
        (POD, "default", pod(f"trainer-{number}", 8, schedulingGroup={"podGroupName": "trainer"}))
        for number in range(2)
    ]
    group = {"metadata": {"name": "trainer"}, "spec": {"schedulingPolicy": policy}}
    return [(POD_GROUP, "default", group), *members, (POD, "default", pod("huge", 9))]


def pod(name, gpus, **spec):
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}}
    containers = [{"name": "main", "image": "pause", "resources": resources}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def test_a_gang_that_starts_and_a_pod_that_waits(tmp_path, caplog):
    async def scenario(cluster, scraper):
        await cluster.add(workload())
        values = await until(
            scraper.values,
            lambda found: (
                found["scheduler_pod_scheduling_attempts_count",] == 2
                and found["scheduler_pending_pods", "unschedulable"] == 1
                and found["scheduler_cache_size", "assumed_pods"] == 0
            ),
        )
        assert values["scheduler_schedule_attempts_total", OURS, "scheduled"] == 2
        assert values["scheduler_schedule_attempts_total", OURS, "unschedulable"] >= 1
        assert values["scheduler_podgroup_schedule_attempts_total", OURS, "scheduled"] == 1
        assert values["scheduler_pod_scheduling_sli_duration_seconds_count", "1"] == 2
        assert values["scheduler_unschedulable_pods", "NodeResourcesFit", OURS] == 1
        assert values["scheduler_cache_size", "nodes"] == 2
        assert values["scheduler_cache_size", "pods"] == 2
        check_events(await until(scraper.events, lambda events: len(events) == 4))

    with caplog.at_level(logging.INFO, DECISIONS):
        during(tmp_path, scenario)
    check_log([json.loads(record.getMessage()) for record in caplog.records if record.name == DECISIONS])


def check_events(events):
    told = {(e["involvedObject"]["name"], e["reason"], e["type"], e["action"]) for e in events}
    assert told == {
        ("trainer", "Scheduled", "Normal", "Binding"),
        ("trainer-0", "Scheduled", "Normal", "Binding"),
        ("trainer-1", "Scheduled", "Normal", "Binding"),
        ("huge", "FailedScheduling", "Warning", "Scheduling"),
    }
    assert {event["reportingComponent"] for event in events} == {OURS}


def check_log(lines):
    (gang,) = [
        line for line in lines if line.get("group") == "default/trainer" and line["outcome"] == "bound"
    ]
    assert sorted(gang["placements"]) == ["trainer-0", "trainer-1"]
    assert len(set(gang["placements"].values())) == 2
    refused = [line for line in lines if line.get("pod") == "default/huge"]
    assert {line["outcome"] for line in refused} == {"refused"}
    assert [line["attempt"] for line in refused] == list(range(1, len(refused) + 1))
    assert refused[-1]["refusals"] == [
        {"rule": "NodeResourcesFit", "reason": "Insufficient nvidia.com/gpu", "nodes": 2}
    ]


def test_metrics_are_told_to_nobody_without_the_token_and_cannot_be_written(tmp_path):
    async def scenario(_cluster, scraper):
        assert await asyncio.to_thread(scraper.refusal, token="wrong") == 401
        assert await asyncio.to_thread(scraper.refusal, method="POST") == 404
        assert await asyncio.to_thread(scraper.refusal, path="/metrics/more") == 404

    during(tmp_path, scenario)
