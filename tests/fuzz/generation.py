"""Objects as no user writes them: of the shape of a kind, with odd values in some places and wrong types in a few."""

import random
import string

from msgspec import inspect

from posse.kinds.registry import KINDS

WORDS = [
    "",
    "a",
    "x-1",
    "default",
    "cpu",
    "memory",
    "nvidia.com/gpu",
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "Always",
    "Exists",
    "In",
    "NotIn",
    "Gt",
    "NoSchedule",
    "DoNotSchedule",
    "ScheduleAnyway",
    "Honor",
    "TCP",
    "2026-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "1",
    "-1",
    "100m",
    "1e30",
    "1Ei",
    "0x10",
    "1_000",
    "50%",
    "null",
    "\x00",
    "\r\nX: y",
    "\ud800".encode("utf-8", "replace").decode(),
    "ß" * 70,
    "a" * 300,
    "a/b/c",
    "../..",
    "{{ x }}",
    "'; --",
    "\N{RIGHT-TO-LEFT OVERRIDE}",
]
NUMBERS = [
    0,
    1,
    2,
    3,
    -1,
    63,
    253,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**53,
    2**63 - 1,
    -(2**63),
    2**64,
    10**30,
    0.5,
    1e308,
]
NAMES = ["a", "b", "c", "group", "node-0", "parent", "workload"]
DEEPEST = 12


class Maker:
    """Everything follows from the seed. `wildness` is the share of places where the type is wrong."""

    def __init__(self, seed, wildness=0.01, numbers=NUMBERS):
        self.chance = random.Random(seed)
        self._numbers = numbers
        self._wildness = wildness

    def kind(self):
        return self.chance.choice(KINDS)

    def object(self, kind):
        obj = self._of(inspect.type_info(kind.struct), 0)
        if isinstance(obj, dict):
            obj["apiVersion"], obj["kind"] = kind.api_version, kind.name
            if self.chance.random() < 0.9:
                obj["metadata"] = self._metadata(kind, obj.get("metadata"))
        return obj

    def _metadata(self, kind, odd):
        metadata = {"name": self.chance.choice(NAMES)}
        if kind.namespaced:
            metadata["namespace"] = "default"
        if isinstance(odd, dict) and self.chance.random() < 0.5:
            return odd | metadata
        return metadata

    def text(self):
        if self.chance.random() < 0.7:
            return self.chance.choice(WORDS)
        return "".join(self.chance.choices(string.printable, k=self.chance.randrange(40)))

    def anything(self, depth=0):
        pick = self.chance.random()
        if depth > 3 or pick < 0.5:
            return self.chance.choice([None, True, False, self.text(), self.chance.choice(self._numbers)])
        if pick < 0.75:
            return [self.anything(depth + 1) for _ in range(self.chance.randrange(4))]
        return {self.text(): self.anything(depth + 1) for _ in range(self.chance.randrange(4))}

    def _of(self, info, depth):
        if depth > DEEPEST or self.chance.random() < self._wildness:
            return self.anything(2)
        match info:
            case inspect.Metadata():
                return self._of(info.type, depth)
            case inspect.StructType():
                return self._struct(info, depth)
            case inspect.VarTupleType() | inspect.ListType():
                many = self.chance.choice([0, 1, 1, 2, 3])
                return [self._of(info.item_type, depth + 1) for _ in range(many)]
            case inspect.DictType():
                many = self.chance.choice([0, 1, 2])
                return {self.text(): self._of(info.value_type, depth + 1) for _ in range(many)}
            case inspect.UnionType():
                return self._of(self.chance.choice(info.types), depth)
            case inspect.StrType():
                return self.text()
            case inspect.IntType() | inspect.FloatType():
                return self.chance.choice(self._numbers)
            case inspect.BoolType():
                return self.chance.random() < 0.5
            case inspect.NoneType():
                return None
            case inspect.LiteralType():
                return self.chance.choice(info.values)
            case inspect.EnumType():
                return self.chance.choice([item.value for item in info.cls])
            case _:
                return self.anything(1)

    def _struct(self, info, depth):
        # Small objects are let through more often, large ones reach more rules.
        share = self.chance.choice([0.15, 0.3, 0.6])
        return {
            field.encode_name: self._of(field.type, depth + 1)
            for field in info.fields
            if field.required or self.chance.random() < share
        }

    def patch(self, obj):
        """Of any of the three media types: its name and a body that often has to do with the object."""
        media_type = self.chance.choice(["json-patch", "merge-patch", "strategic-merge-patch"])
        if media_type != "json-patch":
            body = self._part(obj)
            if isinstance(body, dict) and self.chance.random() < 0.2:
                odd = [
                    "$patch",
                    "$retainKeys",
                    "$setElementOrder/containers",
                    "$deleteFromPrimitiveList/finalizers",
                ]
                body[self.chance.choice(odd)] = self.chance.choice(["delete", "replace", self.anything()])
            return f"application/{media_type}+json", body
        operations = [self._operation(obj) for _ in range(self.chance.randrange(4))]
        return "application/json-patch+json", self.anything() if self.chance.random() < 0.1 else operations

    def _part(self, obj):
        if not isinstance(obj, dict) or self.chance.random() < 0.1:
            return self.anything()
        return {
            name: self._part(value)
            if isinstance(value, dict)
            else self.chance.choice([value, None, self.anything(2)])
            for name, value in obj.items()
            if self.chance.random() < 0.3
        }

    def _operation(self, obj):
        names = ["add", "remove", "replace", "move", "copy", "test", self.text()]
        made = {"op": self.chance.choice(names), "path": self._pointer(obj), "value": self.anything()}
        if self.chance.random() < 0.5:
            made["from"] = self._pointer(obj)
        return made

    def _pointer(self, obj):
        steps, here = [], obj
        while isinstance(here, dict | list) and here and self.chance.random() < 0.8:
            step = (
                self.chance.choice(list(here)) if isinstance(here, dict) else self.chance.randrange(len(here))
            )
            steps.append(str(step))
            here = here[step]
        if self.chance.random() < 0.3:
            steps.append(self.chance.choice(["-", "0", "-1", "01", "~", "~0", "x", ""]))
        return "".join(f"/{step}" for step in steps)
