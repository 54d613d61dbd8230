"""Rules for Lease: durations and counts make sense. Who may take a lease is decided by its holders."""

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules, PrintedColumn
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.lease import Lease


def validate(lease: Lease) -> list[FieldError]:
    return metadata_errors(lease.metadata, namespaced=True) + declared_errors("spec", lease.spec)


def validate_update(new: Lease, old: Lease) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + declared_errors("spec", new.spec)


RULES = KindRules(
    validate=validate,
    validate_update=validate_update,
    allow_unconditional_update=False,
    creates_on_update=True,
)


LEASE_COLUMNS = (
    NAME,
    PrintedColumn(
        "Holder", "string", "Who holds the lease.", 0, value_at("spec", "holderIdentity", absent="")
    ),
    AGE,
)

LEASE = Kind(
    name="Lease",
    plural="leases",
    group="coordination.k8s.io",
    struct=Lease,
    rules=RULES,
    columns=LEASE_COLUMNS,
)
