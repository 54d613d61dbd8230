"""Addresses of Services inside the cluster. Nothing listens on them: no proxy runs here."""

from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Network

from posse.kinds.machinery.errors import ApiError, FieldError, Nameable, internal, invalid
from posse.kinds.machinery.filling import fill, section
from posse.kinds.machinery.kind import Json

SERVICE_NETWORK = IPv4Network("10.96.0.0/16")
API_ADDRESS = "10.96.0.1"
HEADLESS = "None"
# Low addresses are left to Services that ask for one.
FIRST_OFFSET = 16


def assign_address(kind: Nameable, obj: Json, others: Iterable[Json]) -> None:
    """Give a new Service the address that it asks for, or a free one. Raises ApiError if it is taken."""
    spec = section(obj, "spec")
    if spec.get("type") == "ExternalName":
        return
    asked = spec.get("clusterIP") or ""
    if not isinstance(asked, str):
        return
    if asked != HEADLESS:
        place = _place(obj)
        taken = {(other.get("spec") or {}).get("clusterIP") for other in others if _place(other) != place}
        if asked and (asked in taken or not _is_inside(asked)):
            raise _refusal(kind, obj, asked, is_taken=asked in taken)
        spec["clusterIP"] = asked or _free(taken)
    spec["clusterIPs"] = [spec["clusterIP"]]
    fill(spec, "ipFamilies", ["IPv4"])
    fill(spec, "ipFamilyPolicy", "SingleStack")


def keep_address(new: Json, old: Json) -> None:
    """An update that does not name the address keeps it."""
    before, after = old.get("spec") or {}, section(new, "spec")
    if after.get("type") != "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if not after.get(name) and before.get(name):
                after[name] = before[name]


def _place(service: Json) -> tuple[object, object]:
    metadata = section(service, "metadata")
    return metadata.get("namespace"), metadata.get("name")


def _free(taken: set[str | None]) -> str:
    for offset in range(FIRST_OFFSET, SERVICE_NETWORK.num_addresses - 1):
        address = str(SERVICE_NETWORK[offset])
        if address not in taken:
            return address
    raise internal("failed to allocate a serviceIP: range is full")


def _is_inside(text: str) -> bool:
    try:
        return IPv4Address(text) in SERVICE_NETWORK
    except AddressValueError:
        return False


def _refusal(kind: Nameable, obj: Json, asked: str, *, is_taken: bool) -> ApiError:
    problem = "provided IP is already allocated"
    if not is_taken:
        problem = f"the provided IP is not in the valid range. The range of valid IPs is {SERVICE_NETWORK}"
    name = str(section(obj, "metadata").get("name") or "")
    text = f"failed to allocate IP {asked}: {problem}"
    return invalid(kind, name, [FieldError.invalid("spec.clusterIPs", [asked], text)])
