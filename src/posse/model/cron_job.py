"""CronJob: makes Jobs at the times of a schedule."""

from typing import Annotated

from msgspec import Meta

from posse.model.constraints import OPAQUE, REQUIRED, Minimum, OneOf
from posse.model.cron_schedule import cron_schedule, time_zone_name
from posse.model.job import JobTemplateSpec
from posse.model.meta import ApiObject, Int32, Int64, ObjectReference, Shape, Timestamp

ALLOW = "Allow"
FORBID = "Forbid"
REPLACE = "Replace"

History = Annotated[Int32 | None, Minimum(0)]


class CronJobSpec(Shape):
    schedule: Annotated[
        str,
        REQUIRED,
        cron_schedule,
        Meta(description="When Jobs are made: minute, hour, day, month, weekday."),
    ] = ""
    time_zone: Annotated[
        str | None,
        time_zone_name,
        Meta(description="The time zone of the schedule, such as Europe/Berlin. Default UTC."),
    ] = None
    starting_deadline_seconds: Annotated[
        Int64 | None, Minimum(0), Meta(description="How late a Job may still be made.")
    ] = None
    concurrency_policy: Annotated[
        str,
        OneOf((ALLOW, FORBID, REPLACE)),
        Meta(description="What happens while the last Job runs: Allow, Forbid or Replace. Default Allow."),
    ] = ""
    suspend: Annotated[bool | None, Meta(description="Whether no Jobs are made for now.")] = None
    job_template: Annotated[JobTemplateSpec, OPAQUE, Meta(description="What the Jobs are made from.")] = (
        JobTemplateSpec()
    )
    successful_jobs_history_limit: Annotated[
        History, Meta(description="How many Jobs that completed are kept. Default 3.")
    ] = None
    failed_jobs_history_limit: Annotated[
        History, Meta(description="How many Jobs that failed are kept. Default 1.")
    ] = None


class CronJobStatus(Shape):
    active: tuple[ObjectReference, ...] = ()
    last_schedule_time: Timestamp = ""
    last_successful_time: Timestamp = ""


class CronJob(ApiObject):
    """Makes Jobs at the times of a schedule."""

    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
