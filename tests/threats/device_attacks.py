"""Devices and claims within all limits of Kubernetes that are puzzles together."""

from tests.threats.attacks import PODS, create, numbered, path_of, pod

API = "resource.k8s.io/v1"
SLICES = path_of(API, "resourceslices", "")
CLASSES = path_of(API, "deviceclasses", "")
CLAIMS = path_of(API, "resourceclaims")
TEMPLATES = path_of(API, "resourceclaimtemplates")
GROUPS = path_of("scheduling.k8s.io/v1beta1", "podgroups")
DRIVER = "d.example.com"
NODES = [f"node-{number:04}" for number in range(1, 5)]


def device_class(*expressions, **spec):
    selectors = [{"cel": {"expression": text}} for text in expressions]
    made = {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "poison"}}
    return create(CLASSES, made | {"spec": {"selectors": selectors, **spec}})


def slices(make, count=128, nodes=NODES, **spec):
    """A slice of devices for each node, that no two nodes have alike."""
    found = []
    for row, node in enumerate(nodes):
        devices = numbered(count, lambda i, row=row: {"name": f"d{i}", **make(row, i)})
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        made = {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"poison{row or ''}"}}
        made["spec"] = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices, **spec}
        found += create(SLICES, made)
    return found


def claim_spec(requests, constraints=()):
    return {"devices": {"requests": requests, "constraints": list(constraints)}}


def request(number, **fields):
    return {"name": f"r{number}", "exactly": {"deviceClassName": "poison", **fields}}


def alternatives(number, count, **fields):
    return {
        "name": f"r{number}",
        "firstAvailable": numbered(count, lambda i: {"name": f"a{i}", "deviceClassName": "poison", **fields}),
    }


def claim(spec, name="poison"):
    made = {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}
    return create(CLAIMS, made)


def template(spec):
    made = {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": {"name": "poison"}}
    return create(TEMPLATES, made | {"spec": {"spec": spec}})


def claiming(count=1, name="poison", **spec):
    claims = numbered(count, lambda i: {"name": f"c{i}", "resourceClaimTemplateName": "poison"})
    return create(PODS, pod(name, resourceClaims=claims, **spec))


def puzzle(spec, devices, *expressions, pods=1, claims=1):
    return [
        *device_class(*expressions),
        *devices,
        *template(spec),
        *[one for number in range(pods) for one in claiming(claims, f"poison{number or ''}")],
    ]


def gang(spec, devices, *expressions, members=4, claims=1):
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "poison"}}
    group["spec"] = {"schedulingPolicy": {"gang": {"minCount": members}}}
    return [
        *device_class(*expressions),
        *devices,
        *template(spec),
        *create(GROUPS, group),
        *[
            one
            for number in range(members)
            for one in claiming(claims, f"poison{number or ''}", schedulingGroup={"podGroupName": "poison"})
        ],
    ]


def coloured(row, number):
    """Every third has one colour, each its own number."""
    return {
        "attributes": {
            "colour": {"string": f"c{number % 3}-{row}"},
            "number": {"int": number},
            "odd": {"bool": bool(number % 2)},
        }
    }


def full(row, number):
    return {"attributes": {f"a{i}": {"string": f"{row}-{number}-{i}" + "x" * 50} for i in range(32)}}


def alike(_row, _number):
    return {}


def distinct(*requests):
    return {"requests": list(requests), "distinctAttribute": f"{DRIVER}/colour"}


def matching(attribute="colour", *requests):
    return {"requests": list(requests), "matchAttribute": f"{DRIVER}/{attribute}"}


COSTLY = "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]"
ALL_LOOPS = f"{COSTLY}.all(a,{COSTLY}.all(b,{COSTLY}.all(c,a+b+c>0)))"
SHARED = {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "1000Gi"}}}

DEVICE_ATTACKS = {
    "devices: as many colours as there are none": lambda: puzzle(
        claim_spec(numbered(4, request), [distinct()]), slices(coloured)
    ),
    "devices: one colour of too few": lambda: puzzle(
        claim_spec([request(0, count=30), request(1, count=2, selectors=_picks("number", 3))], [matching()]),
        slices(coloured, 90),
    ),
    "devices: numbers that match in no pair": lambda: puzzle(
        claim_spec(numbered(6, request), [matching("number", "r4", "r5")]), slices(coloured)
    ),
    "devices: alternatives of alternatives": lambda: puzzle(
        claim_spec(numbered(32, lambda i: alternatives(i, 8)), [matching("number", "r30", "r31")]),
        slices(coloured),
    ),
    "devices: counters for all but one": lambda: puzzle(
        claim_spec(numbered(16, request)),
        _counted(),
    ),
    "devices: the last request finds nothing": lambda: puzzle(
        claim_spec(
            [request(0, count=16), request(1, selectors=_picks("number", 0)), request(2, count=1)],
            [matching("odd", "r0", "r1")],
        ),
        slices(coloured),
    ),
    "devices: selectors that loop": lambda: puzzle(
        claim_spec([request(0, count=32)]), slices(coloured), *[ALL_LOOPS] * 8
    ),
    "devices: selectors of requests that loop": lambda: puzzle(
        claim_spec(
            numbered(
                8,
                lambda i: request(
                    i, selectors=numbered(32, lambda j: {"cel": {"expression": f"{ALL_LOOPS} && {j} >= 0"}})
                ),
            )
        ),
        slices(coloured),
    ),
    "devices: regular expressions": lambda: puzzle(
        claim_spec(
            [
                request(
                    0,
                    selectors=[
                        {
                            "cel": {
                                "expression": f"device.attributes['{DRIVER}'].a{i}"
                                ".matches('(x+x+)+y|(.*)(.*)(.*)(.*)(.*)[^x]$')"
                            }
                        }
                        for i in range(32)
                    ],
                )
            ]
        ),
        slices(full),
    ),
    "devices: full of attributes": lambda: puzzle(claim_spec([request(0, count=32)]), slices(full)),
    "devices: many claims of a pod": lambda: puzzle(
        claim_spec(numbered(32, request)), slices(lambda *_: SHARED, 1), claims=90
    ),
    "devices: many claims of a pod, many devices": lambda: puzzle(
        claim_spec(numbered(32, request), [matching("number", "r30", "r31")]),
        slices(lambda row, i: SHARED | coloured(row, i), 64),
        claims=90,
    ),
    "devices: a gang that shares": lambda: gang(
        claim_spec(numbered(32, request)), slices(lambda *_: SHARED, 1), members=40
    ),
    "devices: a gang of puzzles": lambda: gang(
        claim_spec(numbered(4, request), [distinct()]), slices(coloured), members=8
    ),
    "devices: a gang of pairs": lambda: gang(
        claim_spec([request(0), request(1)], [matching("colour")]), slices(coloured), members=300
    ),
    "devices: a gang of many claims": lambda: gang(
        claim_spec([request(0)]), slices(alike), members=8, claims=90
    ),
    "devices: pods of one puzzle": lambda: puzzle(
        claim_spec(numbered(4, request), [distinct()]), slices(coloured), pods=40
    ),
    "devices: pods of many puzzles": lambda: [
        *device_class(),
        *slices(coloured),
        *[
            one
            for number in range(30)
            for one in [
                *claim(
                    claim_spec([*numbered(4, request), request(9 + number)], [distinct()]),
                    f"poison{number or ''}",
                ),
                *create(
                    PODS,
                    pod(
                        f"poison{number or ''}",
                        resourceClaims=[{"name": "c", "resourceClaimName": f"poison{number or ''}"}],
                    ),
                ),
            ]
        ],
    ],
    "devices: administrators": lambda: puzzle(
        claim_spec(numbered(32, lambda i: request(i, adminAccess=True))), slices(alike), claims=20
    ),
    "devices: all of them": lambda: puzzle(
        claim_spec(numbered(4, lambda i: request(i, allocationMode="All"))), slices(alike, 8)
    ),
    "devices: generations of a pool": lambda: [
        *device_class(),
        *template(claim_spec([request(0)])),
        *[
            one
            for number in range(200)
            for one in create(
                SLICES,
                {
                    "apiVersion": API,
                    "kind": "ResourceSlice",
                    "metadata": {"name": f"poison{number or ''}"},
                    "spec": {
                        "driver": DRIVER,
                        "nodeName": NODES[0],
                        "pool": {"name": "p", "generation": number, "resourceSliceCount": 2**31},
                        "devices": numbered(128, lambda i: {"name": f"d{i}"}),
                    },
                },
            )
        ],
        *claiming(),
    ],
    "devices: one pool of many slices for all nodes": lambda: [
        *device_class(),
        *template(claim_spec(numbered(4, request), [distinct()])),
        *[
            one
            for number in range(100)
            for one in create(
                SLICES,
                {
                    "apiVersion": API,
                    "kind": "ResourceSlice",
                    "metadata": {"name": f"poison{number or ''}"},
                    "spec": {
                        "driver": DRIVER,
                        "allNodes": True,
                        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 100},
                        "devices": numbered(
                            128, lambda i, n=number: {"name": f"d{n}-{i}", **coloured(0, n * 128 + i)}
                        ),
                    },
                },
            )
        ],
        *claiming(),
    ],
}


def _picks(attribute, number):
    return [{"cel": {"expression": f"device.attributes['{DRIVER}'].{attribute} == {number}"}}]


def _consuming(_row, number):
    return {
        "consumesCounters": [
            {"counterSet": f"s{number % 8}", "counters": {"a": {"value": str(1 + number % 7)}}}
        ]
    }


def _counted():
    found = []
    for row, node in enumerate(NODES):
        pool = {"name": node, "generation": 1, "resourceSliceCount": 2}
        base = {"driver": DRIVER, "nodeName": node, "pool": pool}
        sets = numbered(8, lambda i, row=row: {"name": f"s{i}", "counters": {"a": {"value": str(6 + row)}}})
        devices = numbered(64, lambda i, row=row: {"name": f"d{i}", **_consuming(row, i)})
        for part, more in (("a", {"sharedCounters": sets}), ("b", {"devices": devices})):
            made = {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"poison{row}{part}"}}
            found += create(SLICES, made | {"spec": base | more})
    return found
