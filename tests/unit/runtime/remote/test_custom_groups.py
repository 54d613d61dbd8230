"""Controllers that know native groups only, in a cluster whose groups are custom resources."""

import asyncio
import time

from posse.controllers.jobsets.controller import JobSetController
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    JOB,
    JOB_SET,
    POD_GROUP,
    POSSE_POD_GROUP,
    POSSE_WORKLOAD,
    WORKLOAD,
)
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.remote.custom_groups import CustomGroups, labelled
from tests.support.jobset_plans import GANG, jobset


async def running(lab, transport):
    obj = jobset(gangConfig=GANG)
    await lab.transport.create(JOB_SET, "default", {"metadata": {"name": "js"}, "spec": obj["spec"]})
    work = asyncio.create_task(ReconcilerRunner(transport, [JobSetController()], time.time).run())
    await lab.until(lambda: len(lab.service.list(JOB, None).items) == 3)
    work.cancel()
    await asyncio.wait([work])


def test_groups_are_those_of_posse_and_pods_name_them_by_a_label(in_lab):
    async def main(lab):
        await running(lab, CustomGroups(lab.transport))
        kinds = (WORKLOAD, POD_GROUP, COMPOSITE_POD_GROUP, POSSE_WORKLOAD, POSSE_POD_GROUP)
        found = {kind.group_resource: len((await lab.transport.list(kind)).items) for kind in kinds}
        assert [name for name, count in found.items() if count] == [
            "workloads.scheduling.posse.dev",
            "podgroups.scheduling.posse.dev",
        ]
        for job in (await lab.transport.list(JOB)).items:
            template = job["spec"]["template"]
            assert template["metadata"]["labels"]["scheduling.posse.dev/pod-group"] == "pg-js"
            assert "schedulingGroup" not in template["spec"]

    in_lab(main)


def test_what_names_no_group_is_left_as_it_is():
    job = {"metadata": {"name": "j"}, "spec": {"template": {"spec": {}}}}
    assert labelled(JOB, job) is job
