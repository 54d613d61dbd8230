"""Rules for CompositePodGroup, a group of groups. Unlike a PodGroup it needs a Workload. Of its policy
`minGroupCount` may change, which kube-apiserver 1.37 does not allow yet.

Whether parents exist, form a tree and stay within depth is for the scheduler to say: objects may come in any
order.
"""

from dataclasses import replace

from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules, clear_status
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.scheduling.pod_groups import GROUP_COLUMNS, IN_POSSE_GROUP, default, keep_unstated
from posse.model.workload import CompositePodGroup


def validate(group: CompositePodGroup) -> list[FieldError]:
    errors = metadata_errors(group.metadata, namespaced=True)
    return errors + declared_errors("spec", group.spec)


def validate_update(new: CompositePodGroup, old: CompositePodGroup) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.status != old.status:
        errors += declared_errors("status", new.status)
    return errors + declared_errors("spec", new.spec, old.spec)


RULES = KindRules(
    default=default,
    prepare_create=clear_status,
    prepare_update=keep_unstated,
    validate=validate,
    validate_update=validate_update,
    allow_unconditional_update=False,
)


COMPOSITE_POD_GROUP = Kind(
    name="CompositePodGroup",
    plural="compositepodgroups",
    group="scheduling.k8s.io",
    versions=("v1alpha3",),
    struct=CompositePodGroup,
    rules=RULES,
    columns=GROUP_COLUMNS,
    has_status=True,
)
POSSE_COMPOSITE_POD_GROUP = replace(COMPOSITE_POD_GROUP, **IN_POSSE_GROUP)
