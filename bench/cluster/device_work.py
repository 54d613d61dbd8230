"""Devices of the race: 8 on each node, of 12 kinds, and a claim for each pod as its controller makes it."""

from bench.cluster.api import PODS, Api, at_once
from bench.cluster.shapes import NAMESPACE, Json, node_name

_API = "/apis/resource.k8s.io/v1"
CLAIMS = f"{_API}/namespaces/{NAMESPACE}/resourceclaims"
_CLASSES, _SLICES = f"{_API}/deviceclasses", f"{_API}/resourceslices"
_DRIVER = "gpu.example.com"
_DEVICES = 8
_KINDS = 12
_ENTRY = "gpu"


async def furnish_devices(api: Api, nodes: int) -> None:
    selector = {"cel": {"expression": f'device.driver == "{_DRIVER}"'}}
    await api.create(_CLASSES, {"metadata": {"name": _DRIVER}, "spec": {"selectors": [selector]}})

    async def publish(number: int) -> None:
        await api.create(_SLICES, _slice(number))

    await at_once(publish, range(nodes))


async def withdraw_devices(api: Api, nodes: int) -> None:
    async def withdraw(number: int) -> None:
        await api.delete(f"{_SLICES}/{node_name(number)}")

    await at_once(withdraw, range(nodes))


async def claim_for(api: Api, pod: str) -> None:
    """Make the claim of a pod, and write its name into the status of the pod."""
    metadata = (await api.get(f"{PODS}/{pod}"))["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": metadata["uid"], "controller": True}
    asked = {
        "deviceClassName": _DRIVER,
        "selectors": [{"cel": {"expression": f'device.attributes["{_DRIVER}"].generation < 6'}}],
    }
    spec = {"devices": {"requests": [{"name": _ENTRY, "exactly": asked}]}}
    name = f"{pod}-{_ENTRY}"
    await api.create(CLAIMS, {"metadata": {"name": name, "ownerReferences": [owner]}, "spec": spec})
    status = {"resourceClaimStatuses": [{"name": _ENTRY, "resourceClaimName": name}]}
    await api.patch(f"{PODS}/{pod}/status", {"status": status})


async def remove_claims(api: Api) -> None:
    async def remove(name: str) -> None:
        await api.patch(f"{CLAIMS}/{name}", {"metadata": {"finalizers": None}})
        await api.delete(f"{CLAIMS}/{name}")

    await at_once(remove, await api.names(CLAIMS))


def claiming(pod: Json) -> Json:
    """The pod with a claim of its own. The template need not exist, since the claim is made here."""
    pod["spec"]["resourceClaims"] = [{"name": _ENTRY, "resourceClaimTemplateName": _ENTRY}]
    return pod


def _slice(number: int) -> Json:
    kind = number % _KINDS
    attributes = {"model": {"string": f"model-{kind}"}, "generation": {"int": kind}}
    name = node_name(number)
    spec = {
        "driver": _DRIVER,
        "nodeName": name,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{index}", "attributes": attributes} for index in range(_DEVICES)],
    }
    return {"metadata": {"name": name}, "spec": spec}
