"""The scheduler for real clusters, over HTTPS against an API server that has no scheduler of its own."""

import asyncio
import json
import urllib.error
import urllib.request

import yaml

from posse.client.http_transport import HttpTransport
from posse.client.watches import Watch
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import EVENT, LEASE, NODE, POD, POD_GROUP, POSSE_POD_GROUP
from posse.runtime.process.run_options import GroupApi, RunOptions
from posse.runtime.remote import remote
from posse.runtime.remote.remote import FINISH_SECONDS, RemoteScheduler, followed_kinds
from tests.support.live_server import running_server

HELD = {
    "metadata": {"name": "posse"},
    "spec": {"holderIdentity": "another", "leaseDurationSeconds": 1, "leaseTransitions": 3},
}
QUICK = {"leaseDuration": "1s", "renewDeadline": "500ms", "retryPeriod": "50ms"}


def configured(server, **settings):
    config = server.directory / "scheduler.yaml"
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "posse"}],
    }
    config.write_text(yaml.safe_dump(document | settings))
    return config


def create_pod(server, name, scheduler="posse", **spec):
    requests = {"requests": {"cpu": "1"}}
    containers = [{"name": "c", "image": "i", "resources": requests}]
    labels = spec.pop("labels", {})
    pod = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"schedulerName": scheduler, "containers": containers} | spec,
    }
    server.call(server.service.create, POD, "default", pod)


def create_gang(server, name, size, kind=POD_GROUP):
    policy = {"gang": {"minCount": size}}
    server.call(
        server.service.create,
        kind,
        "default",
        {"metadata": {"name": name}, "spec": {"schedulingPolicy": policy}},
    )


def found(server, kind, name, namespace="default"):
    try:
        return server.call(server.service.get, kind, namespace, name)
    except ApiError:
        return None


def node_of(server, name):
    return found(server, POD, name)["spec"].get("nodeName")


async def until(condition, seconds=15.0):
    async with asyncio.timeout(seconds):
        while True:
            if value := condition():
                return value
            await asyncio.sleep(0.02)


def running(server, scenario, **options):
    """Run `scenario(scheduler)` while a scheduler works for the server, then stop it kindly."""

    async def main():
        scheduler = RemoteScheduler(RunOptions(kubeconfig=server.kubeconfig, port=0, **options))
        ready = asyncio.Event()
        task = asyncio.create_task(scheduler.run(ready.set))
        try:
            await ready.wait()
            await scenario(scheduler)
        finally:
            scheduler.stop()
            async with asyncio.timeout(30):
                await task

    asyncio.run(main())


def page(scheduler, path):
    try:
        with urllib.request.urlopen(scheduler.url + path, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def test_gangs_and_pods_that_name_it_are_bound_and_told_and_others_left_alone(server):
    create_gang(server, "g", 3)
    create_gang(server, "big", 30)
    for number in range(3):
        create_pod(server, f"g{number}", schedulingGroup={"podGroupName": "g"})
    for number in range(30):
        create_pod(server, f"big{number}", schedulingGroup={"podGroupName": "big"})
    create_pod(server, "theirs", "default-scheduler")

    async def scenario(scheduler):
        await until(lambda: all(node_of(server, f"g{number}") for number in range(3)))
        create_pod(server, "later")
        await until(lambda: node_of(server, "later"))
        reason = await until(lambda: found(server, POD_GROUP, "big").get("status", {}).get("conditions"))
        assert reason[0]["reason"] == "Unschedulable"
        assert found(server, LEASE, "posse", "kube-system")["spec"]["holderIdentity"]

    running(server, scenario)
    assert node_of(server, "theirs") is None
    assert node_of(server, "big0") is None
    assert found(server, POD_GROUP, "g")["status"]["conditions"][0]["reason"] == "Scheduled"
    events = server.call(server.service.list, EVENT, None).items
    assert {event["reason"] for event in events} == {"Scheduled", "FailedScheduling"}
    # What was decided is told before it leaves, and then another replica may lead at once.
    assert found(server, LEASE, "posse", "kube-system")["spec"]["holderIdentity"] == ""


def test_groups_of_our_own_kind_are_followed_where_that_is_the_form(server):
    create_gang(server, "ours", 2, POSSE_POD_GROUP)
    for number in range(2):
        create_pod(server, f"o{number}", labels={"scheduling.posse.dev/pod-group": "ours"})

    async def scenario(scheduler):
        await until(lambda: node_of(server, "o0") and node_of(server, "o1"))
        await until(lambda: found(server, POSSE_POD_GROUP, "ours").get("status", {}).get("conditions"))

    running(server, scenario, form=GroupApi.CRD, leader_elect=False)
    assert found(server, LEASE, "posse", "kube-system") is None


def test_which_kinds_are_followed_is_up_to_the_form():
    groups = {
        form: {kind for kind, _ in followed_kinds(RunOptions(form=form)) if "podgroups" in kind.plural}
        for form in GroupApi
    }
    assert {POD_GROUP, POSSE_POD_GROUP} <= groups[GroupApi.AUTO]
    assert POSSE_POD_GROUP not in groups[GroupApi.NATIVE]
    assert POD_GROUP not in groups[GroupApi.CRD]


def test_a_dry_run_decides_and_writes_nothing(server, caplog):
    caplog.set_level("INFO")
    create_pod(server, "p")

    async def scenario(scheduler):
        await until(lambda: "would bind pod default/p to node n0" in caplog.text)

    running(server, scenario, dry_run=True)
    assert "dry run: deciding, without writing anything, on pods with schedulerName posse at" in caplog.text
    assert node_of(server, "p") is None
    assert server.call(server.service.list, EVENT, None).items == []
    assert server.call(server.service.list, LEASE, None).items == []


def test_it_tells_how_it_does(server):
    async def scenario(scheduler):
        assert await asyncio.to_thread(page, scheduler, "/healthz") == (200, "ok")
        await until(lambda: scheduler._ready() and not any(scheduler._ready().values()))
        _, checks = await asyncio.to_thread(page, scheduler, "/readyz?verbose")
        assert "[+]cluster-known ok" in checks
        assert "[+]watch-pods ok" in checks
        _, metrics = await asyncio.to_thread(page, scheduler, "/metrics")
        assert 'posse_watch_open{resource="pods"} 1.0' in metrics
        assert 'leader_election_master_status{name="mine"}' in metrics
        assert "# TYPE jobset_completed_total counter" in metrics
        _, settings = await asyncio.to_thread(page, scheduler, "/configz")
        assert json.loads(settings)["schedulerNames"] == ["one", "two"]

    config = configured(
        server,
        leaderElection={"resourceName": "mine"},
        clientConnection={"qps": 500, "burst": 100},
        profiles=[{"schedulerName": "one"}, {"schedulerName": "two"}],
    )
    running(server, scenario, config=config)


def test_it_tells_for_whom_it_works_and_where_groups_come_from(server, caplog):
    caplog.set_level("INFO")

    async def scenario(scheduler):
        await until(lambda: "groups are described by" in caplog.text)

    running(server, scenario, scheduler_names=("one", "two"))
    assert f"working for pods with schedulerName one, two at {server.url}" in caplog.text
    assert "podgroups.scheduling.k8s.io" in caplog.text
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_a_cluster_that_has_no_groups_in_the_form_is_told_of(tmp_path, caplog):
    async def scenario(scheduler):
        await until(lambda: "none of what --form native looks for" in caplog.text)

    with running_server(tmp_path / "old", frozenset()) as old:
        running(old, scenario, form=GroupApi.NATIVE, leader_elect=False)


def test_one_that_lost_its_lease_waits_and_then_leads_again(server):
    terms = {"leaseDuration": "2s", "renewDeadline": "1s", "retryPeriod": "100ms"}

    def holder():
        lease = found(server, LEASE, "posse", "kube-system")
        return lease["spec"]["holderIdentity"] if lease else ""

    def usurp(name):
        lease = found(server, LEASE, "posse", "kube-system")
        taken = lease | {"spec": lease["spec"] | {"holderIdentity": name}}
        server.call(server.service.update, LEASE, "kube-system", "posse", taken)

    async def scenario(scheduler):
        first = await until(holder)
        while holder() != "somebody":
            try:
                usurp("somebody")
            except ApiError:
                await asyncio.sleep(0.01)
        # It finds out when it next renews the lease.
        await asyncio.sleep(0.5)
        create_pod(server, "meanwhile")
        await asyncio.sleep(0.5)
        assert node_of(server, "meanwhile") is None
        await until(lambda: holder() == first)
        await until(lambda: node_of(server, "meanwhile"))

    running(server, scenario, config=configured(server, leaderElection=terms))


def test_who_takes_over_has_seen_what_the_one_before_wrote_last(server, monkeypatch):
    """Its watch of pods is open and tells nothing: of that, only asking can tell."""
    real = Watch.batches

    async def stuck(self, connection, health):
        if self.kind is POD:
            health.opened()
            await asyncio.Event().wait()
        async for batch in real(self, connection, health):
            yield batch

    monkeypatch.setattr(Watch, "batches", stuck)
    server.call(server.service.create, LEASE, "kube-system", HELD)

    async def scenario(scheduler):
        await until(scheduler._loop.knows_all.is_set)
        for number in range(4):
            create_pod(server, f"theirs{number}")
            body = {"metadata": {"name": f"theirs{number}"}, "target": {"kind": "Node", "name": "n0"}}
            server.call(server.service.bind_together, "default", [body])
        for number in range(4):
            create_pod(server, f"ours{number}")
        await until(lambda: all(node_of(server, f"ours{number}") for number in range(4)))

    running(server, scenario, config=configured(server, leaderElection=QUICK))
    assert {node_of(server, f"ours{number}") for number in range(4)} == {"n1"}


def test_a_kind_that_is_taken_away_is_no_reason_not_to_be_ready_and_one_that_all_have_is(server):
    async def scenario(scheduler):
        await until(lambda: scheduler._ready() and not any(scheduler._ready().values()))
        del scheduler._remote.watches[POSSE_POD_GROUP]
        assert not any(scheduler._ready().values())
        del scheduler._remote.watches[NODE]
        assert scheduler._ready()["watch-nodes"] == "not open yet"

    running(server, scenario)


def test_it_stops_at_once_if_it_never_came_to_deciding(tmp_path):
    cluster = {"server": "http://127.0.0.1:9"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(config))

    async def main():
        scheduler = RemoteScheduler(RunOptions(kubeconfig=kubeconfig, port=0, leader_elect=False))
        await_ready = asyncio.Event()
        task = asyncio.create_task(scheduler.run(await_ready.set))
        await await_ready.wait()
        await asyncio.sleep(0.1)
        scheduler.stop()
        async with asyncio.timeout(FINISH_SECONDS / 2):
            await task

    asyncio.run(main())


def test_events_that_cannot_be_written_do_not_keep_the_lease(server, monkeypatch):
    monkeypatch.setattr(remote, "FINISH_SECONDS", 2.0)
    monkeypatch.setattr(remote, "TELL_SECONDS", 0.1)
    create, stuck = HttpTransport.create, []

    async def hang(transport, kind, namespace, obj):
        if kind is not EVENT:
            return await create(transport, kind, namespace, obj)
        stuck.append(obj)
        return await asyncio.Event().wait()

    monkeypatch.setattr(HttpTransport, "create", hang)

    async def scenario(scheduler):
        create_pod(server, "first")
        await until(lambda: stuck)
        create_pod(server, "second")
        await until(lambda: scheduler._loop._recorder._waiting)

    running(server, scenario)
    assert found(server, LEASE, "posse", "kube-system")["spec"]["holderIdentity"] == ""


def test_a_node_that_was_overcommitted_before_it_led_is_told_of_when_it_leads(server):
    for number in range(5):
        create_pod(server, f"p{number}")
        body = {"metadata": {"name": f"p{number}"}, "target": {"kind": "Node", "name": "n0"}}
        server.call(server.service.bind_together, "default", [body])
    server.call(server.service.create, LEASE, "kube-system", HELD)

    async def scenario(scheduler):
        await until(scheduler._loop.knows_all.is_set)
        await until(lambda: server.call(server.service.list, EVENT, None).items)

    running(server, scenario, config=configured(server, leaderElection=QUICK))
    (event,) = server.call(server.service.list, EVENT, None).items
    assert event["reason"] == "Overcommitted"


def test_a_shadow_tells_what_it_would_have_done_and_writes_nothing(server, caplog):
    caplog.set_level("INFO")
    create_pod(server, "both", "default-scheduler")
    create_gang(server, "waits", 2)
    for number in range(2):
        create_pod(server, f"w{number}", "default-scheduler", schedulingGroup={"podGroupName": "waits"})

    async def scenario(scheduler):
        def shadow():
            return scheduler._settings()["shadow"]

        await until(lambda: len(shadow()["placeable"]) == 2)
        body = {"metadata": {"name": "both"}, "target": {"kind": "Node", "name": "n1"}}
        server.call(server.service.bind_together, "default", [body])
        await until(lambda: shadow()["agreement"] == 1.0)
        (waiting,) = shadow()["placeable"]
        assert waiting["name"] == "default/waits"
        _, metrics = await asyncio.to_thread(page, scheduler, "/metrics")
        assert "posse_shadow_placeable 1.0" in metrics

    running(server, scenario, shadow=True, scheduler_names=("default-scheduler",))
    assert "shadow mode: comparing, without binding anything" in caplog.text
    assert node_of(server, "w0") is None
    assert server.call(server.service.list, EVENT, None).items == []
    assert server.call(server.service.list, LEASE, None).items == []
