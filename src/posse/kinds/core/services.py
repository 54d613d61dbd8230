"""Rules for kinds that workloads bring along and Posse only keeps: Service, ServiceAccount, ConfigMap,
Secret.

They are checked lightly: enough that what is kept is well formed and that immutable data stays what it was.
"""

import string
from base64 import b64encode
from typing import Protocol

from posse.kinds.columns import AGE, NAME, NONE, value_at
from posse.kinds.core.cluster_addresses import keep_address
from posse.kinds.core.node_ports import OPEN_TYPES, internal_port_errors, keep_node_ports
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError, bad_request
from posse.kinds.machinery.filling import entries, fill, fill_text, section
from posse.kinds.machinery.kind import (
    DeletionRules,
    Json,
    Kind,
    KindRules,
    PrintedColumn,
    clear_status,
    keep_spec,
    keep_status,
)
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors, object_update_errors
from posse.model.formats import dns_label
from posse.model.meta import ObjectMeta
from posse.model.service import ConfigMap, Secret, Service, ServiceAccount

BASE64_LETTERS = f"{string.ascii_letters}{string.digits}+/="


def default_service(obj: Json) -> None:
    spec = section(obj, "spec")
    fill_text(spec, "type", "ClusterIP")
    fill_text(spec, "sessionAffinity", "None")
    if spec.get("type") != "ExternalName":
        fill_text(spec, "internalTrafficPolicy", "Cluster")
    if spec.get("type") in OPEN_TYPES:
        fill_text(spec, "externalTrafficPolicy", "Cluster")
    if spec.get("type") == "LoadBalancer":
        fill(spec, "allocateLoadBalancerNodePorts", value=True)
    for port in entries(spec, "ports"):
        fill_text(port, "protocol", "TCP")
        if port.get("port") is not None:
            fill(port, "targetPort", port["port"])


def prepare_service_update(new: Json, old: Json) -> None:
    keep_status(new, old)
    keep_address(new, old)
    keep_node_ports(new, old)


def validate_service(service: Service) -> list[FieldError]:
    errors = metadata_errors(service.metadata, namespaced=True, name_format=dns_label)
    return errors + _service_spec_errors(service)


def validate_service_update(new: Service, old: Service) -> list[FieldError]:
    return object_update_errors(new, old) + _service_spec_errors(new)


def _service_spec_errors(service: Service) -> list[FieldError]:
    return declared_errors("spec", service.spec) + internal_port_errors(service)


def validate_service_account(account: ServiceAccount) -> list[FieldError]:
    return metadata_errors(account.metadata, namespaced=True)


def validate_config_map(config: ConfigMap) -> list[FieldError]:
    errors = metadata_errors(config.metadata, namespaced=True) + declared_errors("", config)
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
    encoded = obj.get("data")
    for value in encoded.values() if isinstance(encoded, dict) else ():
        _check_base64(value)


def _check_base64(value: object) -> None:
    """Kubernetes finds this while it reads the object, before any rule of the kind."""
    if not isinstance(value, str):
        return
    wrong = next((place for place, letter in enumerate(value) if letter not in BASE64_LETTERS), len(value))
    padding = len(value) - len(value.rstrip("="))
    if wrong < len(value) or len(value) % 4 or padding > 2 or "=" in value.rstrip("="):
        text = f"illegal base64 data at input byte {wrong}"
        raise bad_request(f'Secret in version "v1" cannot be handled as a Secret: {text}')


def validate_secret(secret: Secret) -> list[FieldError]:
    return metadata_errors(secret.metadata, namespaced=True) + declared_errors("", secret)


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


SERVICE_RULES = KindRules(
    default=default_service,
    prepare_create=clear_status,
    prepare_update=prepare_service_update,
    prepare_status_update=keep_spec,
    validate=validate_service,
    validate_update=validate_service_update,
    creates_on_update=True,
)
SERVICE_ACCOUNT_RULES = KindRules(
    validate=validate_service_account,
    validate_update=object_update_errors,
    deletion=DeletionRules(answers_with_object=True),
)
CONFIG_MAP_RULES = KindRules(validate=validate_config_map, validate_update=validate_config_map_update)
SECRET_RULES = KindRules(
    default=default_secret, validate=validate_secret, validate_update=validate_secret_update
)


def _external_addresses(service: Json, _now: float) -> str:
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName") or NONE)
    balancer = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    found = [each.get("ip") or each.get("hostname") or "" for each in balancer]
    addresses = [*found, *(spec.get("externalIPs") or ())]
    return ",".join(addresses) or ("<pending>" if spec.get("type") == "LoadBalancer" else NONE)


def _ports(service: Json, _now: float) -> str:
    ports = (service.get("spec") or {}).get("ports") or ()
    return ",".join(map(_port, ports)) or NONE


def _port(port: Json) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node_port}/{port.get('protocol') or 'TCP'}"


def _selector(service: Json, _now: float) -> str:
    selector = (service.get("spec") or {}).get("selector") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(selector.items())) or NONE


def _entries(*fields: str) -> PrintedColumn:
    def cell(obj: Json, _now: float) -> int:
        return sum(len(obj.get(field) or ()) for field in fields)

    return PrintedColumn("Data", "string", "Number of entries.", 0, cell)


def _secrets(account: Json, _now: float) -> int:
    return len(account.get("secrets") or ())


SERVICE_COLUMNS = (
    NAME,
    PrintedColumn("Type", "string", "How it is reached.", 0, value_at("spec", "type", absent="ClusterIP")),
    PrintedColumn(
        "Cluster-IP", "string", "Address in the cluster.", 0, value_at("spec", "clusterIP", absent=NONE)
    ),
    PrintedColumn("External-IP", "string", "Addresses from outside.", 0, _external_addresses),
    PrintedColumn("Port(s)", "string", "Ports and protocols.", 0, _ports),
    AGE,
    PrintedColumn("Selector", "string", "Labels of its pods.", 1, _selector),
)
SECRET_COLUMNS = (
    NAME,
    PrintedColumn("Type", "string", "What it is for.", 0, value_at("type", absent="")),
    _entries("data"),
    AGE,
)

SERVICE_ACCOUNT = Kind(
    name="ServiceAccount",
    plural="serviceaccounts",
    struct=ServiceAccount,
    rules=SERVICE_ACCOUNT_RULES,
    columns=(NAME, PrintedColumn("Secrets", "string", "Number of secrets.", 0, _secrets), AGE),
    short_names=("sa",),
    subresources=("token",),
)

SERVICE = Kind(
    name="Service",
    plural="services",
    struct=Service,
    rules=SERVICE_RULES,
    columns=SERVICE_COLUMNS,
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
    columns=(NAME, _entries("data", "binaryData"), AGE),
    short_names=("cm",),
)

SECRET = Kind(
    name="Secret",
    plural="secrets",
    struct=Secret,
    rules=SECRET_RULES,
    columns=SECRET_COLUMNS,
    selectable_fields=("type",),
)
