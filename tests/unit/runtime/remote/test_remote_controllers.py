"""Controllers in a cluster that may have some of its own, or come to have them."""

import asyncio
import logging

import pytest

from posse.kinds.machinery.errors import ApiError, no_such_resource
from posse.kinds.registry import (
    EVENT,
    JOB,
    JOB_SET,
    KINDS,
    LEADER_WORKER_SET,
    POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
    STATEFUL_SET,
)
from posse.runtime.process.run_options import GroupApi, RunOptions, SetController
from posse.runtime.remote import remote_controllers
from posse.runtime.remote.remote_controllers import RemoteControllers
from tests.support.jobset_plans import GANG, jobset, replicated_job
from tests.support.leader_worker_set_world import PROVIDER, lws

BOTH = tuple(SetController)


class Cluster:
    """What controllers find out of a cluster."""

    def __init__(self):
        self.served = set(KINDS)
        self.rival = ""
        self.is_reachable = True

    async def of(self, kind):
        if not self.is_reachable:
            raise ApiError(503, "ServiceUnavailable", "not now")
        if kind not in self.served:
            raise no_such_resource()
        return kind.storage_version

    async def find_rival(self, _connection, _kind):
        return self.rival


@pytest.fixture
def cluster(monkeypatch):
    found = Cluster()
    monkeypatch.setattr(remote_controllers, "ServedVersions", lambda _: found)
    monkeypatch.setattr(remote_controllers, "find_rival", found.find_rival)
    monkeypatch.setattr(remote_controllers, "LOOK_AGAIN_SECONDS", 0.01)
    return found


@pytest.fixture
def controlled(in_lab):
    """Run a scenario beside the controllers."""

    def drive(scenario, wanted=BOTH, form=GroupApi.AUTO):
        async def control(lab):
            may_begin = asyncio.Event()
            may_begin.set()
            options = RunOptions(controllers=wanted, form=form)
            await RemoteControllers(None, lab.transport, options).run(may_begin)

        in_lab(scenario, control)

    return drive


async def add_jobset(lab, name, **spec):
    body = {"metadata": {"name": name}, "spec": jobset(gangConfig=GANG)["spec"] | spec}
    await lab.transport.create(JOB_SET, "default", body)


def jobs(lab):
    return {job["metadata"]["name"] for job in lab.service.list(JOB, None).items}


def sets(lab):
    return {item["metadata"]["name"] for item in lab.service.list(STATEFUL_SET, None).items}


def test_where_nobody_else_is_everything_is_controlled(cluster, controlled):
    async def scenario(lab):
        await add_jobset(lab, "js")
        await lab.transport.create(LEADER_WORKER_SET, "default", lws())
        await lab.until(lambda: len(jobs(lab)) == 3 and sets(lab))
        assert lab.find(POD_GROUP, "default", "pg-js")

    controlled(scenario)


def test_what_was_not_asked_for_is_left_alone(cluster, controlled):
    async def scenario(lab):
        await lab.transport.create(LEADER_WORKER_SET, "default", lws())
        await add_jobset(lab, "js")
        await lab.until(lambda: jobs(lab))
        assert not sets(lab)

    controlled(scenario, (SetController.JOB_SETS,))


@pytest.mark.parametrize("form", [GroupApi.AUTO, GroupApi.CRD])
def test_groups_are_custom_resources_where_there_are_no_others_or_they_are_asked_for(
    cluster, controlled, form
):
    if form is GroupApi.AUTO:
        cluster.served -= {kind for kind in KINDS if kind.group == "scheduling.k8s.io"}

    async def scenario(lab):
        await add_jobset(lab, "js")
        await lab.until(lambda: jobs(lab))
        assert lab.find(POSSE_POD_GROUP, "default", "pg-js")
        assert not lab.find(POD_GROUP, "default", "pg-js")

    controlled(scenario, form=form)


@pytest.mark.parametrize(("form", "group"), [(GroupApi.AUTO, POSSE_POD_GROUP), (GroupApi.NATIVE, POD_GROUP)])
def test_gangs_wait_where_there_are_no_groups_of_any_kind(cluster, controlled, form, group):
    cluster.served = {JOB_SET}

    async def scenario(lab):
        await add_jobset(lab, "gang")
        await add_jobset(lab, "plain", gangConfig=None)
        await lab.until(lambda: len(jobs(lab)) == 3)
        held = await lab.until(lambda: lab.find(JOB_SET, "default", "gang")["status"].get("conditions"))
        assert (held[0]["type"], held[0]["reason"]) == ("GangBlocked", "APINotAvailable")
        assert f"{group.group_resource}, which the cluster does not serve" in held[0]["message"]
        assert all(name.startswith("plain-") for name in jobs(lab))
        cluster.served = set(KINDS)
        await lab.until(lambda: len(jobs(lab)) == 6)
        assert lab.find(POD_GROUP, "default", "pg-gang")

    controlled(scenario, form=form)


def test_where_somebody_else_is_only_what_is_given_to_posse_is_controlled(cluster, controlled, caplog):
    cluster.rival = "Deployment s/theirs"
    caplog.set_level(logging.INFO)

    async def scenario(lab):
        await lab.transport.create(LEADER_WORKER_SET, "default", lws())
        await add_jobset(lab, "theirs")
        await add_jobset(lab, "ours", managedBy="scheduling.posse.dev/jobset-controller")
        await lab.until(lambda: len(jobs(lab)) == 3)
        assert all(name.startswith("ours-") for name in jobs(lab))
        assert not sets(lab)

    controlled(scenario)
    for kind in (JOB_SET, LEADER_WORKER_SET):
        assert (
            f"leaving {kind.group_resource} to another controller, as Deployment s/theirs shows"
            in caplog.text
        )


def test_beside_somebody_else_gangs_are_made_for_those_that_ask(cluster, controlled):
    cluster.rival = "Deployment s/theirs"

    async def scenario(lab):
        spec = jobset()["spec"]
        for name, mode in (("plain", {}), ("gang", {"scheduling.posse.dev/gang-mode": "Gang"})):
            body = {"metadata": {"name": name, "annotations": mode}, "spec": spec}
            await lab.transport.create(JOB_SET, "default", body)
        await lab.transport.create(LEADER_WORKER_SET, "default", lws(annotations={PROVIDER: "posse"}))
        await lab.until(lambda: lab.find(POSSE_POD_GROUP, "default", "pg-gang"))
        await lab.until(lambda: lab.find(POSSE_WORKLOAD, "default", "serve"))
        assert not lab.find(POSSE_POD_GROUP, "default", "pg-plain")
        assert (jobs(lab), sets(lab)) == (set(), set())

    controlled(scenario)


def test_that_no_gangs_can_be_made_beside_somebody_else_is_told(cluster, controlled, caplog):
    cluster.rival = "Deployment s/theirs"
    cluster.served.discard(POSSE_POD_GROUP)

    async def scenario(lab):
        await lab.until(lambda: caplog.text.count("making no gangs") == 2)
        cluster.served.add(POSSE_POD_GROUP)
        asking = {"name": "js", "annotations": {"scheduling.posse.dev/gang-mode": "Gang"}}
        await lab.transport.create(JOB_SET, "default", {"metadata": asking, "spec": jobset()["spec"]})
        await lab.until(lambda: lab.find(POSSE_POD_GROUP, "default", "pg-js"))

    controlled(scenario)
    for kind in (JOB_SET, LEADER_WORKER_SET):
        told = f"no gangs for {kind.group_resource} of others: they would be {POSSE_POD_GROUP.group_resource}"
        assert told in caplog.text


@pytest.mark.parametrize(("mode", "pods"), [("Pack", 2), ("Gang", 0)])
def test_beside_somebody_else_gangs_that_cannot_be_are_told_of(cluster, controlled, mode, pods):
    cluster.rival = "Deployment s/theirs"

    async def scenario(lab):
        metadata = {"name": "js", "annotations": {"scheduling.posse.dev/gang-mode": mode}}
        spec = jobset(replicated_job("a", pods=pods))["spec"]
        await lab.transport.create(JOB_SET, "default", {"metadata": metadata, "spec": spec})
        (event,) = await lab.until(lambda: lab.service.list(EVENT, "default").items)
        assert (event["reason"], event["involvedObject"]["name"]) == ("InvalidGang", "js")

    controlled(scenario)


def test_a_controller_begins_when_the_others_have_gone_and_its_kind_is_served(cluster, controlled, caplog):
    cluster.rival = "Deployment s/theirs"
    cluster.served.discard(LEADER_WORKER_SET)

    async def scenario(lab):
        await add_jobset(lab, "js")
        await lab.transport.create(LEADER_WORKER_SET, "default", lws())
        await lab.until(lambda: "does not serve them" in caplog.text)
        cluster.served.add(LEADER_WORKER_SET)
        cluster.rival = ""
        await lab.until(lambda: jobs(lab) and sets(lab))

    controlled(scenario)


def test_a_controller_ends_when_somebody_else_comes(cluster, controlled, caplog):
    async def scenario(lab):
        await add_jobset(lab, "first")
        await lab.until(lambda: jobs(lab))
        cluster.rival = "Deployment s/theirs"
        await lab.until(lambda: caplog.text.count("leaving") == 2)
        await asyncio.sleep(0.05)
        await add_jobset(lab, "second")
        await add_jobset(lab, "ours", managedBy="scheduling.posse.dev/jobset-controller")
        await lab.until(lambda: len(jobs(lab)) == 6)
        assert not any(name.startswith("second-") for name in jobs(lab))

    controlled(scenario)


def test_a_cluster_that_cannot_be_asked_changes_nothing(cluster, controlled, caplog):
    async def scenario(lab):
        await add_jobset(lab, "first")
        await lab.until(lambda: jobs(lab))
        cluster.is_reachable = False
        await lab.until(lambda: "cannot be told" in caplog.text)
        await add_jobset(lab, "second")
        await lab.until(lambda: len(jobs(lab)) == 6)

    controlled(scenario)
