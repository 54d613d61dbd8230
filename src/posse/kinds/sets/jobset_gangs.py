"""Which gangs a JobSet asks for, how many pods each needs, and what is wrong with the asking.

A gang here is one template of the Workload: of all pods of the JobSet, of a replicatedJob, or of each of its
Jobs. Where a gang of all has replicatedJobs with settings of their own, it is a tree: each of those is a
gang, and the root holds them together. Pods that name a group in their template
belong to that group and are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec import structs

from posse.kinds.machinery.checks import Check, one_of
from posse.kinds.machinery.errors import FieldError
from posse.model.jobset import GANG, GANG_OFF, REPLICATED_GANG, GangConfig, JobSet, JobSetSpec, ReplicatedJob
from posse.model.workload import MAX_TEMPLATES

DEFAULT_REPLICAS = 1
DEFAULT_PARALLELISM = 1
NO_PODS = "a gang needs at least one pod, and there are none"

_mode_of_all = one_of(GANG_OFF, GANG)
_mode_of_some = one_of(GANG_OFF, GANG, REPLICATED_GANG)


@dataclass(frozen=True, slots=True)
class AskedGang:
    """One template of the Workload; when it is `per_job`, each Job of its one replicatedJob is a gang."""

    template: str
    members: tuple[ReplicatedJob, ...]
    config: GangConfig
    per_job: bool = False
    is_whole: bool = False

    @property
    def minimum(self) -> int:
        """How many pods of one such gang must start together: all that its Jobs begin with."""
        if self.per_job:
            return pods_per_job(self.members[0])
        return sum(replicas(member) * pods_per_job(member) for member in self.members)


@dataclass(frozen=True, slots=True)
class AskedRoot:
    """What holds the gangs of a tree together: as many of them as there are must start at once."""

    template: str
    config: GangConfig
    gangs: tuple[AskedGang, ...]


def asked_root(name: str, spec: JobSetSpec) -> AskedRoot | None:
    if not _is_tree(spec):
        return None
    return AskedRoot(_template_of_all(name), spec.gang_config or GangConfig(), asked_gangs(name, spec))


def _is_tree(spec: JobSetSpec) -> bool:
    is_whole = mode_of(spec.gang_config) == GANG and not spec.is_sequenced
    return is_whole and any(has_settings(job.gang_config) for job in spec.replicated_jobs)


def has_settings(config: GangConfig | None) -> bool:
    return config is not None and not (
        config.scheduling_constraints is None and config.disruption_mode is None
    )


def _template_of_all(name: str) -> str:
    return f"pg-{name}"


def asked_gangs(name: str, spec: JobSetSpec) -> tuple[AskedGang, ...]:
    """Return the gangs of the JobSet of this name, in the order of its replicatedJobs."""
    members = tuple(job for job in spec.replicated_jobs if not names_own_group(job))
    if mode_of(spec.gang_config) != GANG:
        return tuple(_gang_of(job, job.gang_config) for job in members if is_gang(job.gang_config))
    config = spec.gang_config or GangConfig()
    populated = [job for job in members if replicas(job) * pods_per_job(job)]
    if spec.is_sequenced:
        # All at once can never be: the later ones are made when the earlier ones run.
        return tuple(_gang_of(job, _within(config, job.gang_config)) for job in populated)
    if _is_tree(spec):
        return tuple(_gang_of(job, job.gang_config) for job in populated)
    return (AskedGang(_template_of_all(name), members, config, is_whole=True),) if members else ()


def _within(whole: GangConfig, own: GangConfig | None) -> GangConfig:
    """What a part of the whole asks for when it is a gang for itself: its own settings, else those of the
    whole.
    """
    if own is None:
        return whole
    return GangConfig(
        gang_mode=whole.gang_mode,
        scheduling_constraints=own.scheduling_constraints or whole.scheduling_constraints,
        disruption_mode=own.disruption_mode or whole.disruption_mode,
    )


def _gang_of(job: ReplicatedJob, config: GangConfig | None) -> AskedGang:
    config = config or GangConfig()
    return AskedGang(f"pg-{job.name}", (job,), config, per_job=config.gang_mode == REPLICATED_GANG)


def mode_of(config: GangConfig | None) -> str:
    return (config.gang_mode if config is not None else None) or GANG_OFF


def is_gang(config: GangConfig | None) -> bool:
    return mode_of(config) != GANG_OFF


def names_own_group(job: ReplicatedJob) -> bool:
    pod = job.template.spec.template.spec
    return pod.scheduling_group is not None or pod.workload_ref is not None


def without_trees(jobset: JobSet) -> JobSet:
    """Where there are no trees, a gang of all is one group, whatever its parts would like."""
    if not _is_tree(jobset.spec):
        return jobset
    members = tuple(structs.replace(job, gang_config=None) for job in jobset.spec.replicated_jobs)
    return structs.replace(jobset, spec=structs.replace(jobset.spec, replicated_jobs=members))


def without_gangs(jobset: JobSet) -> JobSet:
    members = tuple(structs.replace(job, gang_config=None) for job in jobset.spec.replicated_jobs)
    return structs.replace(
        jobset, spec=structs.replace(jobset.spec, replicated_jobs=members, gang_config=None)
    )


def replicas(job: ReplicatedJob) -> int:
    return DEFAULT_REPLICAS if job.replicas is None else job.replicas


def pods_per_job(job: ReplicatedJob) -> int:
    """How many pods a Job begins with: it never has more at once than it has left to complete."""
    spec = job.template.spec
    parallelism = DEFAULT_PARALLELISM if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def gang_errors(name: str, spec: JobSetSpec) -> list[FieldError]:
    errors = [*_mode_of_all_errors("spec.gangConfig", spec.gang_config), *_level_errors(spec)]
    is_part = is_gang(spec.gang_config)
    for index, job in enumerate(spec.replicated_jobs):
        field = f"spec.replicatedJobs[{index}].gangConfig"
        errors += _config_errors(field, job.gang_config, _mode_of_some, is_part=is_part)
    return errors or [
        *_reference_errors(spec),
        *_tree_errors(name, spec),
        *_layout_errors(spec, asked_gangs(name, spec)),
    ]


def _tree_errors(name: str, spec: JobSetSpec) -> list[FieldError]:
    """The root and the parts of a tree are templates of one Workload, whose names are all different."""
    root = asked_root(name, spec)
    if root is None:
        return []
    if not root.gangs:
        return [FieldError.invalid("spec.gangConfig.gangMode", GANG, NO_PODS)]
    text = "may not be the name of the JobSet too when replicatedJobs of its gang have settings of their own"
    errors = [
        FieldError.invalid(f"spec.replicatedJobs[{index}].name", job.name, text)
        for index, job in enumerate(spec.replicated_jobs)
        if job.name == name
    ]
    return errors + _disruption_errors(root.config, spec)


def _disruption_errors(whole: GangConfig, spec: JobSetSpec) -> list[FieldError]:
    if whole.disruption_mode is None or whole.disruption_mode.all is None:
        return []
    text = (
        "may not be set when spec.gangConfig.disruptionMode is all: "
        "what goes as a whole has no part that goes alone"
    )
    return [
        FieldError.forbidden(f"spec.replicatedJobs[{index}].gangConfig.disruptionMode.single", text)
        for index, job in enumerate(spec.replicated_jobs)
        if job.gang_config is not None
        and job.gang_config.disruption_mode is not None
        and job.gang_config.disruption_mode.single is not None
    ]


def _mode_of_all_errors(field: str, config: GangConfig | None) -> list[FieldError]:
    if config is not None and config.gang_mode == REPLICATED_GANG:
        text = "each Job as a gang of its own is asked for in the gangConfig of its replicatedJob"
        return [FieldError.invalid(f"{field}.gangMode", REPLICATED_GANG, text)]
    return _config_errors(field, config, _mode_of_all)


def _config_errors(
    field: str, config: GangConfig | None, check_mode: Check, *, is_part: bool = False
) -> list[FieldError]:
    """Settings need a gang that they are about: its own, or the one that it is a part of."""
    if config is None:
        return []
    errors = check_mode(f"{field}.gangMode", config.gang_mode)
    if is_gang(config) or is_part:
        return errors
    settings = {
        "schedulingConstraints": config.scheduling_constraints,
        "disruptionMode": config.disruption_mode,
    }
    text = "needs a gangMode other than Off: it says something of a gang, and there is none"
    return errors + [
        FieldError.forbidden(f"{field}.{key}", text) for key, value in settings.items() if value is not None
    ]


def _level_errors(spec: JobSetSpec) -> list[FieldError]:
    if not is_gang(spec.gang_config):
        return []
    text = "may not be set beside spec.gangConfig.gangMode, which makes a gang of all replicatedJobs together"
    return [
        FieldError.invalid(
            f"spec.replicatedJobs[{index}].gangConfig.gangMode", mode_of(job.gang_config), text
        )
        for index, job in enumerate(spec.replicated_jobs)
        if is_gang(job.gang_config)
    ]


def _reference_errors(spec: JobSetSpec) -> list[FieldError]:
    """With one gang of all, either all pods have been given a group by the user or none has."""
    own = [names_own_group(job) for job in spec.replicated_jobs]
    if not is_gang(spec.gang_config) or all(own) or not any(own):
        return []
    field = f"spec.replicatedJobs[{own.index(False)}].template.spec.template.spec.schedulingGroup"
    text = (
        "must be set in the templates of all replicatedJobs or of none when spec.gangConfig.gangMode is Gang"
    )
    return [FieldError.invalid(field, None, text)]


def _layout_errors(spec: JobSetSpec, gangs: Sequence[AskedGang]) -> list[FieldError]:
    if _is_tree(spec) and len(gangs) > MAX_TEMPLATES:
        text = f"makes a tree of {len(gangs)} gangs; a Workload has room for {MAX_TEMPLATES} templates"
        return [FieldError.invalid("spec.replicatedJobs", len(spec.replicated_jobs), text)]
    errors = [error for gang in gangs for error in _size_errors(spec, gang)]
    return errors + list(_priority_errors(gangs)) + list(_name_errors(spec, gangs))


def _name_errors(spec: JobSetSpec, gangs: Sequence[AskedGang]) -> Iterator[FieldError]:
    """The group of a Job is called after its replicatedJob and a number; another replicatedJob may be called
    so too.
    """
    per_job = {gang.members[0].name: replicas(gang.members[0]) for gang in gangs if gang.per_job}
    for index, job in enumerate(spec.replicated_jobs):
        name, _, number = job.name.rpartition("-")
        is_number = number.isascii() and number.isdigit() and str(int(number)) == number
        is_gang_of_all = mode_of(job.gang_config) == GANG
        if is_gang_of_all and is_number and int(number) < per_job.get(name, 0):
            text = f"its group would be called like that of a Job of replicatedJob {name}"
            yield FieldError.invalid(f"spec.replicatedJobs[{index}].name", job.name, text)


def _size_errors(spec: JobSetSpec, gang: AskedGang) -> Iterator[FieldError]:
    whole = is_gang(spec.gang_config)
    index = 0 if whole else spec.replicated_jobs.index(gang.members[0])
    field = "spec.gangConfig.gangMode" if whole else f"spec.replicatedJobs[{index}].gangConfig.gangMode"
    pods = sum(replicas(member) * pods_per_job(member) for member in gang.members)
    if pods == 0:
        yield FieldError.invalid(field, mode_of(gang.config), NO_PODS)


def _priority_errors(gangs: Sequence[AskedGang]) -> Iterator[FieldError]:
    """All groups of a Workload are of one priority."""
    members = [member for gang in gangs for member in gang.members]
    classes = [member.template.spec.template.spec.priority_class_name for member in members]
    for member, name in zip(members, classes, strict=True):
        if name != classes[0]:
            text = (
                f'replicatedJobs {members[0].name} ("{classes[0]}") and {member.name} ("{name}") differ in '
                "priorityClassName; all gangs of a JobSet must have the same"
            )
            yield FieldError.invalid("spec.replicatedJobs", name, text)
            return
