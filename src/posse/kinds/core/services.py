"""Rules for kinds that workloads bring along and Posse only keeps: Service, ServiceAccount, ConfigMap,
Secret.

They are checked lightly: enough that what is kept is well formed and that immutable data stays what it was.
"""

from base64 import b64encode
from typing import Protocol

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.machinery.checks import formatted
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, clear_status, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors, object_update_errors
from posse.model.formats import config_key, dns_label
from posse.model.meta import ObjectMeta
from posse.model.service import ConfigMap, Secret, Service, ServiceAccount


def default_service(obj: Json) -> None:
    spec = section(obj, "spec")
    fill_text(spec, "type", "ClusterIP")
    fill_text(spec, "sessionAffinity", "None")
    for port in entries(spec, "ports"):
        fill_text(port, "protocol", "TCP")
        if port.get("port") is not None:
            fill(port, "targetPort", port["port"])


def validate_service(service: Service) -> list[FieldError]:
    errors = metadata_errors(service.metadata, namespaced=True, name_format=dns_label)
    errors += declared_errors("spec", service.spec)
    text = "must be between 1 and 65535, inclusive"
    return errors + [
        FieldError.invalid(f"spec.ports[{index}].port", port.port, text)
        for index, port in enumerate(service.spec.ports)
        if not 1 <= port.port <= 65535
    ]


def validate_service_account(account: ServiceAccount) -> list[FieldError]:
    return metadata_errors(account.metadata, namespaced=True)


def validate_config_map(config: ConfigMap) -> list[FieldError]:
    errors = metadata_errors(config.metadata, namespaced=True)
    errors += _key_errors("data", config.data)
    errors += _key_errors("binaryData", config.binary_data)
    for key in sorted(config.data.keys() & config.binary_data.keys()):
        text = "duplicate of key present in data"
        errors.append(FieldError.invalid(f"binaryData[{key}]", key, text))
    return errors


def validate_config_map_update(new: ConfigMap, old: ConfigMap) -> list[FieldError]:
    unchanged = (new.data, new.binary_data) == (old.data, old.binary_data)
    return _frozen_data_errors(new, old, unchanged=unchanged)


def default_secret(obj: Json) -> None:
    """Plain text is for writing only: it is stored encoded, over what was there."""
    fill_text(obj, "type", "Opaque")
    plain = obj.get("stringData")
    if isinstance(plain, dict) and all(isinstance(text, str) for text in plain.values()):
        del obj["stringData"]
        data = section(obj, "data")
        for key, text in plain.items():
            data[key] = b64encode(text.encode(errors="surrogatepass")).decode()


def validate_secret(secret: Secret) -> list[FieldError]:
    return metadata_errors(secret.metadata, namespaced=True) + _key_errors("data", secret.data)


def validate_secret_update(new: Secret, old: Secret) -> list[FieldError]:
    errors = _frozen_data_errors(new, old, unchanged=new.data == old.data)
    return errors + declared_errors("", new, old)


class _Freezable(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...
    @property
    def immutable(self) -> bool | None: ...


def _frozen_data_errors(new: _Freezable, old: _Freezable, *, unchanged: bool) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    text = "field is immutable when `immutable` is set"
    if old.immutable and not new.immutable:
        errors.append(FieldError.forbidden("immutable", text))
    if old.immutable and not unchanged:
        errors.append(FieldError.forbidden("data", text))
    return errors


def _key_errors(field: str, data: dict[str, str]) -> list[FieldError]:
    errors = []
    for key in data:
        errors += formatted(f"{field}[{key}]", key, config_key)
    return errors


SERVICE_RULES = KindRules(
    default=default_service,
    prepare_create=clear_status,
    prepare_status_update=keep_spec,
    validate=validate_service,
    validate_update=object_update_errors,
)
SERVICE_ACCOUNT_RULES = KindRules(validate=validate_service_account, validate_update=object_update_errors)
CONFIG_MAP_RULES = KindRules(validate=validate_config_map, validate_update=validate_config_map_update)
SECRET_RULES = KindRules(
    default=default_secret, validate=validate_secret, validate_update=validate_secret_update
)


SERVICE_ACCOUNT = Kind(
    name="ServiceAccount",
    plural="serviceaccounts",
    struct=ServiceAccount,
    rules=SERVICE_ACCOUNT_RULES,
    columns=NAME_AND_AGE,
    short_names=("sa",),
)

SERVICE = Kind(
    name="Service",
    plural="services",
    struct=Service,
    rules=SERVICE_RULES,
    columns=NAME_AND_AGE,
    short_names=("svc",),
    categories=("all",),
    has_status=True,
    selectable_fields=("spec.clusterIP", "spec.type"),
)

CONFIG_MAP = Kind(
    name="ConfigMap",
    plural="configmaps",
    struct=ConfigMap,
    rules=CONFIG_MAP_RULES,
    columns=NAME_AND_AGE,
    short_names=("cm",),
)

SECRET = Kind(
    name="Secret",
    plural="secrets",
    struct=Secret,
    rules=SECRET_RULES,
    columns=NAME_AND_AGE,
    selectable_fields=("type",),
)
