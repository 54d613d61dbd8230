"""Replaces names consistently: equal names stay equal, so that every rule decides as before.

Names of objects, label values and images are replaced, label keys and resources are not. Texts for people are
dropped, since they may hold names; so are annotations that no rule reads.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from posse.engine.groups.annotations import (
    EXPECTED_DURATION,
    MINIMUM_RUN_TIME,
    PREFERRED_TOPOLOGY,
    stated_labels,
)
from posse.engine.groups.forms import VOLCANO_ANNOTATION
from posse.engine.queue.reservation_note import RESERVED_CAPACITY, read_note
from posse.engine.state.pod_record import LEADER_ANNOTATION
from posse.model.durations import parse_duration

Json = dict[str, Any]

_KEPT = frozenset({"default", "kube-system", "kube-public", "kube-node-lease", ""})
_NAME_FIELDS = frozenset(
    {
        "name",
        "uid",
        "namespace",
        "nodeName",
        "nominatedNodeName",
        "podGroupName",
        "workloadName",
        "templateName",
    }
    | {"podGroup", "podGroupReplicaKey", "claimName", "volumeName", "storageClassName", "serviceName"}
    | {"generateName", "hostname", "subdomain", "image", "resourceClaimName", "resourceClaimTemplateName"}
    | {"compositePodGroupName", "parentCompositePodGroupName", "volumeHandle", "pool", "device"}
)
_CLASS_FIELDS = frozenset({"priorityClassName", "schedulerName", "deviceClassName", "driver", "provisioner"})
_LABEL_FIELDS = frozenset({"labels", "matchLabels", "nodeSelector"})
_TEXT_FIELDS = frozenset({"message", "note", "description"})
_DURATIONS = frozenset({EXPECTED_DURATION, MINIMUM_RUN_TIME})
_NAMING_ANNOTATIONS = frozenset({VOLCANO_ANNOTATION, LEADER_ANNOTATION})


class Anonymiser:
    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def object(self, obj: Json, kind: str) -> Json:
        name = obj["metadata"].get("name", "")
        if kind == "PriorityClass":
            # Groups and pods name classes, and schedulers know some by name.
            return obj
        self._replaced(name, kind.lower())
        return {key: self._value(value, key) for key, value in obj.items()}

    def _value(self, value: Any, field: str) -> Any:
        if isinstance(value, dict):
            return self._fields(value, field)
        if isinstance(value, list):
            if field in {"values", "names"}:
                return [self._label(item) if isinstance(item, str) else item for item in value]
            return [self._value(item, "") for item in value]
        if isinstance(value, str) and field in _NAME_FIELDS:
            return self._replaced(value, field if field in {"namespace", "uid", "image"} else "name")
        return value

    def _fields(self, value: Json, field: str) -> Json:
        if field == "annotations":
            kept = {key: self._annotation(key, text) for key, text in value.items() if isinstance(text, str)}
            return {key: text for key, text in kept.items() if text is not None}
        is_plain_selector = field == "selector" and all(isinstance(item, str) for item in value.values())
        if field in _LABEL_FIELDS or is_plain_selector:
            return {key: self._label(item) if isinstance(item, str) else item for key, item in value.items()}
        return {
            key: self._value(item, key)
            for key, item in value.items()
            if key not in _TEXT_FIELDS and key not in _CLASS_FIELDS
        } | {key: item for key, item in value.items() if key in _CLASS_FIELDS}

    def _annotation(self, key: str, text: str) -> str | None:
        """What a rule reads of it, without names; None if no rule does."""
        if key in _NAMING_ANNOTATIONS:
            return self._replaced(text, "name")
        if key == RESERVED_CAPACITY:
            return self._reserved(text)
        if key == PREFERRED_TOPOLOGY:
            return ",".join(stated_labels(text)[0]) or None
        return text if key in _DURATIONS and parse_duration(text) is not None else None

    def _reserved(self, text: str) -> str | None:
        note = read_note(text)
        if note is None:
            return None
        shares = tuple(
            replace(one, nodes=tuple(self._replaced(node, "node") for node in one.nodes))
            for one in note.reserved
        )
        kept = replace(
            note,
            reserved=shares,
            pod_group=self._replaced(note.pod_group, "name"),
            replica_key=self._replaced(note.replica_key, "name"),
        )
        return msgspec.json.encode(kept).decode()

    def namespace(self, name: str) -> str:
        return self._replaced(name, "namespace")

    def _label(self, text: str) -> str:
        """Numbers are compared by size, and true and false are no names."""
        is_plain = text.lstrip("-").isdigit() or text in {"true", "false"}
        return text if is_plain else self._replaced(text, "value")

    def _replaced(self, name: str, word: str) -> str:
        if name in _KEPT:
            return name
        if name not in self._names:
            self._counts[word] = self._counts.get(word, 0) + 1
            self._names[name] = f"{word}-{self._counts[word]}"
        return self._names[name]
