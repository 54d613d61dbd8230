"""Rules for JobSet: what is filled in, what is refused, what may change. Policies and gangs have files of
their own.

The templates are judged as the Jobs that will be made from them: what no Job could be is refused before
anything exists.
"""

from dataclasses import replace

import msgspec

from posse.kinds.batch import jobs
from posse.kinds.columns import AGE, NAME
from posse.kinds.core.pod_templates import with_claims
from posse.kinds.machinery.checks import formatted
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.sets.jobset_claims import claim_templates, claims_errors
from posse.kinds.sets.jobset_gangs import gang_errors, replicas
from posse.kinds.sets.jobset_policies import policy_errors
from posse.kinds.storage.volumes import default_claim
from posse.model.decoding import decode
from posse.model.formats import dns_1035_label, dns_subdomain, label_value
from posse.model.job import INDEXED, Job
from posse.model.jobset import ANY_ORDER, DELETE, RECREATE, Coordinator, JobSet, JobSetSpec, ReplicatedJob
from posse.model.limits import MAX_JOBS

DEFAULT_GROUP = "default"
# What a pod is called after its index: a dash and five characters.
POD_SUFFIX = "-xxxxx"
IMMUTABLE_TEXT = "field is immutable"
INT32_MAX = 2**31 - 1


def default(obj: Json) -> None:
    spec = section(obj, "spec")
    network = section(spec, "network")
    fill(network, "enableDNSHostnames", value=True)
    fill(network, "publishNotReadyAddresses", value=True)
    fill(spec, "successPolicy", {"operator": "All"})
    fill_text(section(spec, "startupPolicy"), "startupPolicyOrder", ANY_ORDER)
    if spec.get("failurePolicy") is not None:
        _default_failure_policy(section(spec, "failurePolicy"))
    for policy in entries(spec, "volumeClaimPolicies"):
        fill_text(section(policy, "retentionPolicy"), "whenDeleted", DELETE)
        for template in entries(policy, "templates"):
            default_claim(template)
    for job in entries(spec, "replicatedJobs"):
        fill(job, "replicas", 1)
        fill_text(job, "groupName", DEFAULT_GROUP)
        job_spec = section(section(job, "template"), "spec")
        fill_text(job_spec, "completionMode", INDEXED)
        fill_text(section(section(job_spec, "template"), "spec"), "restartPolicy", "OnFailure")


def _default_failure_policy(policy: Json) -> None:
    fill_text(policy, "restartStrategy", RECREATE)
    for index, rule in enumerate(entries(policy, "rules")):
        fill_text(rule, "name", f"failurePolicyRule{index}")


def validate(jobset: JobSet) -> list[FieldError]:
    return metadata_errors(jobset.metadata, namespaced=True) + _spec_errors(jobset.metadata.name, jobset.spec)


def validate_update(new: JobSet, old: JobSet) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec == old.spec:
        return errors
    is_over = bool(old.status.terminal_state)
    return (
        errors
        + _spec_errors(new.metadata.name, new.spec, old.spec)
        + _change_errors(new.spec, old.spec, is_over=is_over)
    )


def _spec_errors(name: str, spec: JobSetSpec, old: JobSetSpec | None = None) -> list[FieldError]:
    errors = declared_errors("spec", spec, old) + _count_errors(spec)
    for index, job in enumerate(spec.replicated_jobs):
        completed = _with_shared_volumes(job, spec)
        errors += _replicated_job_errors(f"spec.replicatedJobs[{index}]", name, completed)
    errors += _network_errors(spec)
    errors += jobs.manager_errors(spec.managed_by)
    errors += policy_errors(spec) + claims_errors(name, spec)
    if spec.coordinator is not None:
        errors += _coordinator_errors(name, spec, spec.coordinator)
    # Sizes that make no sense have been told already.
    return errors or gang_errors(name, spec)


def _count_errors(spec: JobSetSpec) -> list[FieldError]:
    count = sum(max(0, replicas(job)) for job in spec.replicated_jobs)
    if count <= MAX_JOBS:
        return []
    return [FieldError.invalid("spec.replicatedJobs", count, f"must not be more than {MAX_JOBS} Jobs in all")]


def _replicated_job_errors(field: str, jobset_name: str, job: ReplicatedJob) -> list[FieldError]:
    errors = []
    spec = job.template.spec
    if replicas(job) * (1 if spec.parallelism is None else spec.parallelism) > INT32_MAX:
        text = f"the product of replicas and parallelism must not exceed {INT32_MAX}"
        errors.append(FieldError.invalid(field, job.replicas, text))
    errors += _name_errors(f"{field}.name", jobset_name, job)
    template_errors = jobs.spec_errors_without_selector(_as_job(job).spec)
    return errors + [replace(error, field=f"{field}.template.{error.field}") for error in template_errors]


def _with_shared_volumes(job: ReplicatedJob, spec: JobSetSpec) -> ReplicatedJob:
    """Return the replicatedJob with the volumes that its pods get from the claims of the JobSet."""
    pods = with_claims(job.template.spec.template, claim_templates(spec))
    job_spec = msgspec.structs.replace(job.template.spec, template=pods)
    return msgspec.structs.replace(job, template=msgspec.structs.replace(job.template, spec=job_spec))


def _as_job(job: ReplicatedJob) -> Job:
    """Return the template with the defaults that a Job made from it gets."""
    obj: Json = msgspec.json.decode(msgspec.json.encode(job.template))
    jobs.default(obj)
    return decode(Job, obj)


def _name_errors(field: str, jobset_name: str, job: ReplicatedJob) -> list[FieldError]:
    if not job.name:
        return []
    longest = f"{jobset_name}-{job.name}-{max(0, replicas(job) - 1)}"
    spec = job.template.spec
    if spec.completion_mode == INDEXED and spec.completions:
        pod = f"{longest}-{spec.completions - 1}{POD_SUFFIX}"
        if dns_1035_label(pod) and not dns_1035_label(longest):
            return [
                FieldError.invalid(
                    field, job.name, f"its pods would be called {pod}: {dns_1035_label(pod)[0]}"
                )
            ]
    return [
        FieldError.invalid(field, job.name, f"its Jobs would be called {longest}: {problem}")
        for problem in dns_1035_label(longest)
    ]


def _network_errors(spec: JobSetSpec) -> list[FieldError]:
    if spec.network is None or not spec.network.subdomain:
        return []
    field = "spec.network.subdomain"
    return formatted(field, spec.network.subdomain, dns_subdomain) or formatted(
        field, spec.network.subdomain, dns_1035_label
    )


def subdomain(name: str, spec: JobSetSpec) -> str:
    """Return the name of the Service under which the pods are reached."""
    return (spec.network.subdomain if spec.network is not None else "") or name


def coordinator_endpoint(name: str, spec: JobSetSpec, chosen: Coordinator) -> str:
    return f"{name}-{chosen.replicated_job}-{chosen.job_index}-{chosen.pod_index}.{subdomain(name, spec)}"


def _coordinator_errors(name: str, spec: JobSetSpec, chosen: Coordinator) -> list[FieldError]:
    field = "spec.coordinator"
    job = next((job for job in spec.replicated_jobs if job.name == chosen.replicated_job), None)
    if job is None:
        text = "does not name one of the replicatedJobs"
        return [FieldError.invalid(f"{field}.replicatedJob", chosen.replicated_job, text)]
    template = job.template.spec
    if template.completion_mode != INDEXED or template.completions is None:
        text = "must be a replicatedJob of Indexed Jobs that state completions"
        return [FieldError.invalid(f"{field}.replicatedJob", chosen.replicated_job, text)]
    errors = _index_errors(f"{field}.jobIndex", chosen.job_index, replicas(job))
    errors += _index_errors(f"{field}.podIndex", chosen.pod_index, template.completions)
    endpoint = coordinator_endpoint(name, spec, chosen)
    return errors + [
        FieldError.invalid(field, endpoint, f"the coordinator is told to all pods in a label: {problem}")
        for problem in label_value(endpoint)
    ]


def _index_errors(field: str, index: int, count: int) -> list[FieldError]:
    if 0 <= index < count:
        return []
    return [FieldError.invalid(field, index, f"must be at least 0 and less than {count}")]


def _change_errors(new: JobSetSpec, old: JobSetSpec, *, is_over: bool) -> list[FieldError]:
    errors = []
    if old.failure_policy is not None and new.failure_policy != old.failure_policy:
        errors.append(FieldError.invalid("spec.failurePolicy", new.failure_policy, IMMUTABLE_TEXT))
    return errors + _replicated_job_change_errors(new, old, is_over=is_over)


def _replicated_job_change_errors(new: JobSetSpec, old: JobSetSpec, *, is_over: bool) -> list[FieldError]:
    field = "spec.replicatedJobs"
    if [job.name for job in new.replicated_jobs] != [job.name for job in old.replicated_jobs]:
        return [FieldError.invalid(field, None, IMMUTABLE_TEXT)]
    is_suspended = bool(new.suspend or old.suspend)
    errors = []
    for index, (job, before) in enumerate(zip(new.replicated_jobs, old.replicated_jobs, strict=True)):
        if job.gang_config == before.gang_config and job != _with_permitted_changes(
            before, job, is_suspended=is_suspended, is_over=is_over
        ):
            errors.append(FieldError.invalid(f"{field}[{index}]", job.name, IMMUTABLE_TEXT))
    return errors


def _with_permitted_changes(
    before: ReplicatedJob, job: ReplicatedJob, *, is_suspended: bool, is_over: bool
) -> ReplicatedJob:
    permitted = _rescheduled(before, job) if is_suspended else before
    if is_over or not _may_be_resized(before, job):
        return permitted
    size = job.template.spec.parallelism
    job_spec = msgspec.structs.replace(permitted.template.spec, parallelism=size, completions=size)
    template = msgspec.structs.replace(permitted.template, spec=job_spec)
    return msgspec.structs.replace(permitted, template=template)


def _may_be_resized(before: ReplicatedJob, job: ReplicatedJob) -> bool:
    """Jobs of which all indexes run at once may have more or fewer of them, but never none."""
    sizes = [item.template.spec for item in (before, job)]
    return all(
        spec.completion_mode == INDEXED
        and spec.parallelism == spec.completions
        and (spec.completions or 0) > 0
        for spec in sizes
    )


def _rescheduled(job: ReplicatedJob, other: ReplicatedJob) -> ReplicatedJob:
    """The replicatedJob with what may change while the JobSet is suspended taken from another."""
    pods, theirs = job.template.spec.template, other.template.spec.template
    metadata = msgspec.structs.replace(
        pods.metadata, labels=theirs.metadata.labels, annotations=theirs.metadata.annotations
    )
    spec = msgspec.structs.replace(
        pods.spec,
        node_selector=theirs.spec.node_selector,
        tolerations=theirs.spec.tolerations,
        scheduling_gates=theirs.spec.scheduling_gates,
    )
    pods = msgspec.structs.replace(pods, metadata=metadata, spec=spec)
    job_spec = msgspec.structs.replace(job.template.spec, template=pods)
    template = msgspec.structs.replace(job.template, spec=job_spec)
    return msgspec.structs.replace(job, template=template)


RULES = KindRules(
    default=default,
    prepare_create=clear_status,
    validate=validate,
    validate_update=validate_update,
)


def _terminal_state(jobset: Json, _now: float) -> str:
    return str((jobset.get("status") or {}).get("terminalState") or "")


def _restarts(jobset: Json, _now: float) -> str:
    return str((jobset.get("status") or {}).get("restarts") or "")


def _completed(jobset: Json, _now: float) -> str:
    conditions = (jobset.get("status") or {}).get("conditions") or []
    return next((str(item.get("status")) for item in conditions if item.get("type") == "Completed"), "")


def _suspended(jobset: Json, _now: float) -> str:
    suspend = (jobset.get("spec") or {}).get("suspend")
    return "" if suspend is None else str(bool(suspend)).lower()


JOB_SET_COLUMNS = (
    NAME,
    PrintedColumn("TerminalState", "string", "Completed or Failed, once it has ended.", 0, _terminal_state),
    PrintedColumn("Restarts", "string", "How often all its Jobs were recreated.", 0, _restarts),
    PrintedColumn("Completed", "string", "Whether it has succeeded.", 0, _completed),
    PrintedColumn("Suspended", "string", "Whether it is suspended.", 0, _suspended),
    AGE,
)

JOB_SET = Kind(
    name="JobSet",
    plural="jobsets",
    group="jobset.x-k8s.io",
    # The documents write v1; both have the same shape.
    versions=("v1alpha2", "v1"),
    struct=JobSet,
    rules=RULES,
    columns=JOB_SET_COLUMNS,
    has_status=True,
)
