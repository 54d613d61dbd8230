"""Annotations that Posse reads, with invalid, huge or odd values."""

import json

from tests.threats.attacks import PODS, create, path_of, pod
from tests.threats.object_attacks import pod_group

GROUPS = path_of("scheduling.k8s.io/v1beta1", "podgroups")


def noted(key, value, path=PODS, make=pod):
    made = make()
    made["metadata"]["annotations"] = {key: value}
    return create(path, made)


def gang():
    return pod_group({"schedulingPolicy": {"gang": {"minCount": 1}}})[1]


NOTES = {
    "posse.dev/arrives-at": ["-1e400", "2026-99-99T99:99:99Z", "0001-01-01T00:00:00Z"],
    "posse.dev/notice-seconds": ["1e999", "-5", "nan"],
    "posse.dev/stop-seconds": ["1e300", "-1e300"],
    "posse.dev/run-seconds": ["-1", "0x10", "1_0"],
    "posse.dev/minimum-run-time": ["9" * 5000 + "h", "-1h", "1e9s"],
    "posse.dev/expected-duration": ["-1h", "0." + "9" * 50_000 + "h", "\u0661h"],
    "posse.dev/preferred-topology": ["x" * 200_000, ",".join(["rack"] * 40_000), "\x00"],
    "posse.dev/simulated": ["false"],
    "scheduling.posse.dev/gang": ["[" * 5000, "true" * 50_000],
    "scheduling.posse.dev/gang-mode": ["x" * 200_000],
    "scheduling.posse.dev/forecast": ["[" * 100_000, '{"a":' * 20_000],
    "scheduling.posse.dev/pod-group": ["x" * 200_000, "../../x", "\x00"],
    "scheduling.posse.dev/reserved-capacity": [
        "[" * 100_000,
        json.dumps({"nodes": {f"n{i}": 10**9 for i in range(8000)}}),
        '{"until":"9999-12-31T23:59:59Z","cpu":"1e99999999"}',
    ],
    "scheduling.posse.dev/min-resources": [
        "[" * 100_000,
        json.dumps({f"example.com/r{i}": "1" for i in range(8000)}),
        '{"cpu":"' + "9" * 100_000 + '"}',
    ],
    "scheduling.posse.dev/shared-claims": [",".join(["c"] * 80_000), "[" * 50_000],
    "scheduling.posse.dev/startup-policy": ["x" * 200_000],
    "scheduling.posse.dev/provisioning-for": ["x" * 200_000],
}

NOTE_ATTACKS = {
    f"note: {key} {number} of a {what}": lambda key=key, text=text, path=path, make=make: noted(
        key, text, path, make
    )
    for key, texts in NOTES.items()
    for number, text in enumerate(texts)
    for what, path, make in (("pod", PODS, pod), ("group", GROUPS, gang))
}
