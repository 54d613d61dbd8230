"""Plans of reconcilers as tests look at them."""

from typing import NamedTuple

from posse.controllers.steps import Amend, Create, Delete, Write
from posse.kinds.registry import JOB, POD, POD_GROUP, WORKLOAD


def steps_of(plan, *kinds_of_step):
    steps = [step for stage in plan.stages for step in stage]
    return [step for step in steps if isinstance(step, kinds_of_step)] if kinds_of_step else steps


def planned(reconciler, now=0.0):
    """The steps for all that was touched since the last time."""
    return [step for key in reconciler.touched.take(1000) for step in steps_of(reconciler.plan(key, now))]


class JobPlan(NamedTuple):
    """A plan for a Job, by what its steps are for."""

    prepare: list
    job: dict | None
    release: list
    withdraw: list
    delete: list
    create: list
    is_expired: bool
    news: list
    wake_at: float | None


def job_plan(plan):
    written = [step.obj for step in steps_of(plan, Write) if step.kind is JOB]
    amended = [step.obj for step in steps_of(plan, Amend)]
    deleted = [step.obj for step in steps_of(plan, Delete) if step.kind is POD]
    return JobPlan(
        prepare=[step for step in steps_of(plan, Create, Write) if step.kind in (WORKLOAD, POD_GROUP)],
        job=written[0] if written else None,
        release=[pod for pod in amended if pod not in deleted],
        withdraw=[pod for pod in deleted if pod in amended],
        delete=[pod for pod in deleted if pod not in amended],
        create=[step.obj for step in steps_of(plan, Create) if step.kind is POD],
        is_expired=any(step.kind is JOB for step in steps_of(plan, Delete)),
        news=plan.news,
        wake_at=plan.wake_at,
    )
