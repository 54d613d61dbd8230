import asyncio
import gc
import weakref

from posse.controllers.steps import Plan, Write
from posse.kinds.machinery.errors import conflict
from posse.kinds.registry import JOB
from posse.runtime.control.plan_execution import PlanExecutor, PlanOutdated


class Conflicting:
    """A Transport whose objects have always changed meanwhile."""

    async def update(self, kind, namespace, name, obj, subresource=""):
        raise conflict(kind, name, "it has changed")


async def failure_of(plan):
    try:
        await PlanExecutor(Conflicting(), lambda _kind, _obj: None).run(plan, lambda _news: None)
    except PlanOutdated as error:
        return weakref.ref(error)


def test_a_plan_that_fails_leaves_no_garbage():
    plan = Plan(stages=[[Write(JOB, {"metadata": {"name": "a"}})]])
    gc.disable()
    try:
        failure = asyncio.run(failure_of(plan))
        assert failure is not None
        assert failure() is None
    finally:
        gc.enable()
