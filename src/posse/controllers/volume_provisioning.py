"""Makes volumes for claims of simulated storage, and deletes them when their claims are gone.

A volume is named after the uid of its claim, so both have the same key. Simulated volumes can be reached from
every node.
"""

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Create, Delete, News, Plan, is_deleting
from posse.engine.storage.records import SELECTED_NODE
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS
from posse.kinds.storage.default_class import IS_DEFAULT_CLASS

PROVISIONER = "posse.dev/simulated"
DEFAULT_CLASS = "standard"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PREFIX = "pvc-"
FOLDER = "/var/lib/posse/simulated"


def default_storage_class() -> Json:
    """The class of claims that name none. As in most clusters, volumes wait for the first pod."""
    return {
        "apiVersion": STORAGE_CLASS.api_version,
        "kind": STORAGE_CLASS.name,
        "metadata": {"name": DEFAULT_CLASS, "annotations": {IS_DEFAULT_CLASS: "true"}},
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": False,
    }


class VolumeProvisioner(Reconciler):
    reporter = "posse-provisioner"
    kinds = (STORAGE_CLASS, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM)
    subject_kind = PERSISTENT_VOLUME_CLAIM

    def __init__(self) -> None:
        # Classes by name; claims by uid, and volumes by the uid of the claim that they were made for.
        self._classes: dict[str, Json] = {}
        self._claims: dict[str, Json] = {}
        self._volumes: dict[str, Json] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is STORAGE_CLASS:
            self._classes[obj["metadata"]["name"]] = obj
            self.touched.add(*self._claims)
        elif kind is PERSISTENT_VOLUME_CLAIM:
            self._claims[obj["metadata"]["uid"]] = obj
            self.touched.add(obj["metadata"]["uid"])
        elif _is_simulated(obj):
            self._volumes[_claim_uid(obj)] = obj
            self.touched.add(_claim_uid(obj))

    def lose(self, kind: Kind, obj: Json) -> None:
        if kind is STORAGE_CLASS:
            self._classes.pop(obj["metadata"]["name"], None)
        elif kind is PERSISTENT_VOLUME_CLAIM:
            self._claims.pop(obj["metadata"]["uid"], None)
            self.touched.add(obj["metadata"]["uid"])
        elif _is_simulated(obj):
            self._volumes.pop(_claim_uid(obj), None)
            self.touched.add(_claim_uid(obj))

    def subject(self, key: str) -> Json | None:
        return self._claims.get(key)

    def plan(self, key: str, _now: float) -> Plan:
        result, claim, volume = Plan(), self._claims.get(key), self._volumes.get(key)
        if volume is not None:
            if claim is None and _may_go(volume):
                result.then(Delete(PERSISTENT_VOLUME, volume))
        elif claim is not None and (storage_class := self._class_for(claim)) is not None:
            made = _volume_for(claim, storage_class)
            result.then(Create(PERSISTENT_VOLUME, made, unless_present=True, failure="ProvisioningFailed"))
            text = f"Successfully provisioned volume {made['metadata']['name']}"
            result.news.append(News("ProvisioningSucceeded", text))
        return result

    def _class_for(self, claim: Json) -> Json | None:
        """Return the class of a claim that needs a volume now."""
        spec = claim["spec"]
        storage_class = self._classes.get(spec.get("storageClassName") or "")
        if storage_class is None or storage_class.get("provisioner") != PROVISIONER:
            return None
        if spec.get("volumeName") or is_deleting(claim):
            return None
        is_delayed = storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        has_node = SELECTED_NODE in (claim["metadata"].get("annotations") or {})
        return storage_class if has_node or not is_delayed else None


def _volume_for(claim: Json, storage_class: Json) -> Json:
    metadata, spec = claim["metadata"], claim["spec"]
    name = f"{PREFIX}{metadata['uid']}"
    return {
        "apiVersion": PERSISTENT_VOLUME.api_version,
        "kind": PERSISTENT_VOLUME.name,
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {
                "apiVersion": PERSISTENT_VOLUME_CLAIM.api_version,
                "kind": PERSISTENT_VOLUME_CLAIM.name,
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
            "hostPath": {"path": f"{FOLDER}/{name}"},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
    }


def _is_simulated(volume: Json) -> bool:
    return (volume["metadata"].get("annotations") or {}).get(PROVISIONED_BY) == PROVISIONER


def _claim_uid(volume: Json) -> str:
    return str(volume["metadata"]["name"]).removeprefix(PREFIX)


def _may_go(volume: Json) -> bool:
    policy = volume["spec"].get("persistentVolumeReclaimPolicy")
    phase = (volume.get("status") or {}).get("phase")
    return (policy, phase) == ("Delete", "Released") and not is_deleting(volume)
