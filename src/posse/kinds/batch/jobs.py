"""Rules for Job: what is filled in, what is refused, what may change. The rules of its policies are in
job_policies.py.

The selector and the labels it looks for are generated from name and uid, so no two Jobs ever claim the same
pods.
"""

from collections.abc import Mapping

from posse.kinds.batch.job_columns import JOB_COLUMNS
from posse.kinds.batch.job_policies import failure_policy_errors, success_policy_errors
from posse.kinds.batch.job_scheduling import scheduling_errors, scheduling_update_errors
from posse.kinds.core.pod_defaults import default_pod
from posse.kinds.core.pod_templates import selection_errors, template_errors, with_scheduling_of
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, clear_status, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.formats import dns_label, dns_subdomain
from posse.model.job import INDEXED, NON_INDEXED, Job, JobSpec
from posse.model.meta import LabelSelector
from posse.model.selectors import SelectorError, label_query

CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
JOB_NAME = "batch.kubernetes.io/job-name"
LEGACY_CONTROLLER_UID = "controller-uid"
LEGACY_JOB_NAME = "job-name"

BACKOFF_LIMIT = 6
# With a limit for each index the limit for all together is out of the way.
BACKOFF_LIMIT_NONE = 2**31 - 1
INDEXED_PARALLELISM_MAX = 100_000
MANAGER_NAME_BYTES_MAX = 63


def default(obj: Json) -> None:
    spec = section(obj, "spec")
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    fill(spec, "parallelism", 1)
    fill(
        spec,
        "backoffLimit",
        BACKOFF_LIMIT if spec.get("backoffLimitPerIndex") is None else BACKOFF_LIMIT_NONE,
    )
    fill_text(spec, "completionMode", NON_INDEXED)
    fill(spec, "suspend", value=False)
    fill(spec, "manualSelector", value=False)
    has_policy = spec.get("podFailurePolicy") is not None
    fill(spec, "podReplacementPolicy", "Failed" if has_policy else "TerminatingOrFailed")
    if has_policy:
        for rule in entries(section(spec, "podFailurePolicy"), "rules"):
            for pattern in entries(rule, "onPodConditions"):
                fill_text(pattern, "status", "True")
    template = section(spec, "template")
    default_pod(template)
    _take_labels(section(obj, "metadata"), section(template, "metadata"))


def _take_labels(metadata: Json, template_metadata: Json) -> None:
    labels = template_metadata.get("labels")
    if not metadata.get("labels") and isinstance(labels, dict) and labels:
        metadata["labels"] = dict(labels)


def prepare_create(obj: Json) -> None:
    clear_status(obj)
    spec = section(obj, "spec")
    if spec.get("manualSelector") is True:
        return
    labels = section(section(section(spec, "template"), "metadata"), "labels")
    for key, value in _generated_labels(obj["metadata"].get("name", ""), obj["metadata"]["uid"]).items():
        labels.setdefault(key, value)
    section(section(spec, "selector"), "matchLabels").setdefault(CONTROLLER_UID, obj["metadata"]["uid"])


def _generated_labels(name: str, uid: str) -> dict[str, str]:
    return {LEGACY_CONTROLLER_UID: uid, CONTROLLER_UID: uid, LEGACY_JOB_NAME: name, JOB_NAME: name}


def validate(job: Job) -> list[FieldError]:
    return [
        *metadata_errors(job.metadata, namespaced=True),
        *_generated_selector_errors(job),
        *_spec_errors(job.spec),
        *_hostname_errors(job),
    ]


def validate_update(new: Job, old: Job) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec != old.spec:
        errors += (
            _spec_errors(new.spec, old.spec) + _hostname_errors(new) + _spec_update_errors(new.spec, old)
        )
    return errors if new.status == old.status else errors + declared_errors("status", new.status)


def _generated_selector_errors(job: Job) -> list[FieldError]:
    if job.spec.manual_selector:
        return []
    labels = job.spec.template.metadata.labels
    expected = _generated_labels(job.metadata.name, job.metadata.uid)
    errors = [
        FieldError.invalid(f"spec.template.metadata.labels[{key}]", labels, f"must be '{value}'")
        for key, value in expected.items()
        if labels.get(key) != value
    ]
    if job.spec.selector is not None and not _finds(job.spec.selector, expected):
        text = "`selector` not auto-generated"
        errors.append(FieldError.invalid("spec.selector", job.spec.selector, text))
    return errors


def _finds(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether it selects these labels, or cannot be read, which is told by itself."""
    try:
        return label_query(selector).matches(labels)
    except SelectorError:
        return True


def _hostname_errors(job: Job) -> list[FieldError]:
    """The pods of an Indexed Job are called by its name and their index."""
    if not job.spec.is_indexed or not job.spec.completions or job.spec.completions < 0:
        return []
    longest = f"{job.metadata.name}-{job.spec.completions - 1}"
    if not dns_label(longest):
        return []
    text = f"will not able to create pod with invalid DNS label: {longest}"
    return [FieldError.invalid("metadata.name", job.metadata.name, text)]


def _spec_errors(spec: JobSpec, old: JobSpec | None = None) -> list[FieldError]:
    return spec_errors_without_selector(spec, old) + _selector_errors(spec)


def spec_errors_without_selector(spec: JobSpec, old: JobSpec | None = None) -> list[FieldError]:
    """Judge what can be judged before the Job has a uid, from which its selector is made."""
    return [
        *declared_errors("spec", spec, old),
        *manager_errors(spec.managed_by),
        *_mode_errors(spec),
        *failure_policy_errors("spec.podFailurePolicy", spec),
        *success_policy_errors("spec.successPolicy", spec),
        *_replacement_errors(spec),
        *scheduling_errors("spec.scheduling", spec),
        *template_errors("spec.template", spec.template),
        *_restart_errors("spec.template.spec.restartPolicy", spec),
    ]


def manager_errors(manager: str | None) -> list[FieldError]:
    if manager is None:
        return []
    field = "spec.managedBy"
    if len(manager.encode(errors="surrogatepass")) > MANAGER_NAME_BYTES_MAX:
        return [FieldError.too_long(field, MANAGER_NAME_BYTES_MAX)]
    domain, slash, path = manager.partition("/")
    if not slash or not path:
        return [FieldError.invalid(field, manager, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    return [FieldError.invalid(field, domain, problem) for problem in dns_subdomain(domain)]


def _mode_errors(spec: JobSpec) -> list[FieldError]:
    errors = []
    if spec.max_failed_indexes is not None and spec.backoff_limit_per_index is None:
        text = "when maxFailedIndexes is specified"
        errors.append(FieldError.required("spec.backoffLimitPerIndex", text))
    if spec.is_indexed:
        return errors + _indexed_errors(spec)
    limits = {
        "spec.backoffLimitPerIndex": spec.backoff_limit_per_index,
        "spec.maxFailedIndexes": spec.max_failed_indexes,
    }
    return errors + [
        FieldError.invalid(field, limit, "requires indexed completion mode")
        for field, limit in limits.items()
        if limit is not None
    ]


def _indexed_errors(spec: JobSpec) -> list[FieldError]:
    if spec.completions is None:
        return [FieldError.required("spec.completions", f"when completion mode is {INDEXED}")]
    errors = []
    if spec.parallelism is not None and spec.parallelism > INDEXED_PARALLELISM_MAX:
        text = f"must be less than or equal to {INDEXED_PARALLELISM_MAX} when completion mode is {INDEXED}"
        errors.append(FieldError.invalid("spec.parallelism", spec.parallelism, text))
    if spec.backoff_limit_per_index is not None:
        if spec.completions > INDEXED_PARALLELISM_MAX:
            text = f"must be less than or equal to {INDEXED_PARALLELISM_MAX}"
            errors.append(FieldError.invalid("spec.completions", spec.completions, text))
        if spec.max_failed_indexes is not None and spec.max_failed_indexes > spec.completions:
            text = "must be less than or equal to completions"
            errors.append(FieldError.invalid("spec.maxFailedIndexes", spec.max_failed_indexes, text))
    return errors


def _replacement_errors(spec: JobSpec) -> list[FieldError]:
    policy = spec.pod_replacement_policy
    if spec.pod_failure_policy is None or policy in (None, "Failed"):
        return []
    return [FieldError.not_supported("spec.podReplacementPolicy", policy, ("Failed",))]


def _selector_errors(spec: JobSpec) -> list[FieldError]:
    if spec.selector is None:
        return [FieldError.required("spec.selector")]
    return selection_errors(spec.selector, spec.template.metadata.labels)


def _restart_errors(field: str, spec: JobSpec) -> list[FieldError]:
    policy = spec.template.spec.restart_policy
    if policy in {"", "Always"}:
        return [FieldError.required(field, 'valid values: "OnFailure", "Never"')]
    if policy == "OnFailure" and spec.pod_failure_policy is not None:
        text = 'only "Never" is supported when podFailurePolicy is specified'
        return [FieldError.invalid(field, policy, text)]
    return []


def _spec_update_errors(new: JobSpec, old: Job) -> list[FieldError]:
    errors = []
    template = old.spec.template
    if old.spec.suspend and not old.status.active:
        template = with_scheduling_of(template, new.template)
    if new.template != template:
        errors.append(FieldError.invalid("spec.template", new.template, "field is immutable"))
    errors += scheduling_update_errors("spec.scheduling", new.scheduling, old.spec.scheduling)
    return errors + _completions_update_errors(new, old.spec)


def _completions_update_errors(new: JobSpec, old: JobSpec) -> list[FieldError]:
    field = "spec.completions"
    if new.completions == old.completions:
        return []
    if not old.is_indexed:
        return [FieldError.invalid(field, new.completions, "field is immutable")]
    if new.completions == new.parallelism and old.completions == old.parallelism:
        return []
    text = "can only be modified in tandem with spec.parallelism"
    return [FieldError.invalid(field, new.completions, text)]


RULES = KindRules(
    default=default,
    prepare_create=prepare_create,
    prepare_status_update=keep_spec,
    validate=validate,
    validate_update=validate_update,
)


JOB = Kind(
    name="Job",
    plural="jobs",
    group="batch",
    struct=Job,
    rules=RULES,
    columns=JOB_COLUMNS,
    categories=("all",),
    has_status=True,
)
