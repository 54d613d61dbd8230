import asyncio

import pytest

from posse.engine.decisions import Bind, Placement, ReportPod
from posse.engine.keys import PodRef
from posse.kinds.machinery.errors import ApiError
from posse.runtime.scheduling.carrier import Carrier
from posse.runtime.scheduling.observers import DecisionObservers, Round
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.permission_warnings import PermissionWarnings
from posse.writes.round_writes import writes_of

POD = PodRef("default", "a", "uid-a")


def denial(verb, resource, group=""):
    said = (
        f'User "posse" cannot {verb} resource "{resource}" in API group "{group}" in the namespace "default"'
    )
    return ApiError(403, "Forbidden", f'{resource} "a" is forbidden: {said}')


def warned(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_each_permission_is_told_once(caplog):
    warnings = PermissionWarnings()
    for error in (denial("patch", "pods/status"), denial("create", "events"), denial("patch", "pods/status")):
        warnings.note(error)
    assert len(warned(caplog)) == 2
    assert warned(caplog)[0].startswith('the role lacks patch on pods/status of API group ""')


@pytest.mark.parametrize(
    "error",
    [
        ApiError(403, "NotLeading", "this scheduler is not in charge, or not any more"),
        ApiError(
            403, "Forbidden", "unable to create new content in namespace x because it is being terminated"
        ),
        ApiError(409, "Conflict", denial("patch", "pods").message),
    ],
)
def test_other_refusals_are_no_matter_of_permissions(error, caplog):
    PermissionWarnings().note(error)
    assert warned(caplog) == []


class Denying:
    """A Transport that allows nothing."""

    async def patch(self, kind, namespace, name, patch, *, subresource=""):
        raise denial("patch", f"{kind.plural}/{subresource}")

    async def create(self, kind, namespace, obj):
        raise denial("create", kind.plural)

    async def bind_all(self, groups):
        return [[denial("create", "pods/binding") for _ in group] for group in groups]


async def carry_out(carrier, decisions):
    writes = writes_of(decisions)
    await carrier.report(writes, await carrier.act(Round(0.0, 0.0, decisions, ()), writes))


def test_whatever_the_scheduler_may_not_write_is_told(caplog):
    async def main():
        recorder = EventRecorder(Denying(), lambda: 0.0)
        carrier = Carrier(Denying(), recorder, DecisionObservers(), lambda: 0.0)
        decisions = [Bind((Placement(POD, "n1"),)), ReportPod(POD, "Unschedulable", "no room")]
        await carry_out(carrier, decisions)
        await recorder.flush()

    asyncio.run(main())
    lacking = [line.partition(" of API")[0] for line in warned(caplog)]
    assert lacking == [
        "the role lacks create on pods/binding",
        "the role lacks patch on pods/status",
        "the role lacks create on events",
    ]


class Wavering(Denying):
    """A Transport that allows everything while it is told to."""

    is_granted = False

    async def patch(self, kind, namespace, name, patch, *, subresource=""):
        return (
            {} if self.is_granted else await super().patch(kind, namespace, name, patch, subresource="status")
        )

    async def create(self, kind, namespace, obj):
        return obj if self.is_granted else await super().create(kind, namespace, obj)

    async def bind_all(self, groups):
        return (
            [[None for _ in group] for group in groups] if self.is_granted else await super().bind_all(groups)
        )


def test_a_permission_that_was_given_back_and_is_lost_again_is_told_again(caplog):
    async def main():
        transport = Wavering()
        recorder = EventRecorder(transport, lambda: 0.0)
        carrier = Carrier(transport, recorder, DecisionObservers(), lambda: 0.0)
        decisions = [Bind((Placement(POD, "n1"),)), ReportPod(POD, "Unschedulable", "no room")]
        for transport.is_granted in (False, False, True, False):
            await carry_out(carrier, decisions)
            await recorder.flush()

    asyncio.run(main())
    lacking = [line.partition(" of API")[0] for line in warned(caplog)]
    assert len(lacking) == 6
    assert lacking[3:] == lacking[:3]
