"""What a CronJob is refused for."""

import pytest

from posse.kinds.registry import CRON_JOB

CONTAINERS = [{"name": "a", "image": "x"}]
TEMPLATE = {"spec": {"template": {"spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}}}
CRON = {
    "metadata": {"name": "c", "namespace": "ns"},
    "spec": {"schedule": "*/5 * * * *", "jobTemplate": TEMPLATE},
}
POLICY = {"template": {"spec": {"restartPolicy": "Always"}}}


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({}, []),
        ({"spec": {"timeZone": "Europe/Berlin"}}, []),
        ({"spec": {"schedule": None}}, ["spec.schedule: Required value"]),
        (
            {"spec": {"schedule": "* *"}},
            ['spec.schedule: Invalid value: "* *": expected exactly 5 fields, found 2: [* *]'],
        ),
        (
            {"spec": {"schedule": "TZ=UTC * * * * *"}},
            [
                (
                    'spec.schedule: Invalid value: "TZ=UTC * * * * *": '
                    "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
                )
            ],
        ),
        (
            {"spec": {"timeZone": "Nowhere"}},
            ['spec.timeZone: Invalid value: "Nowhere": unknown time zone Nowhere'],
        ),
        (
            {"spec": {"concurrencyPolicy": "Maybe"}},
            [
                (
                    'spec.concurrencyPolicy: Unsupported value: "Maybe": '
                    'supported values: "Allow", "Forbid", "Replace"'
                )
            ],
        ),
        (
            {"spec": {"successfulJobsHistoryLimit": -1}},
            ["spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            {"spec": {"jobTemplate": {"spec": POLICY}}},
            [
                (
                    "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: "
                    'valid values: "OnFailure", "Never"'
                )
            ],
        ),
        (
            {"metadata": {"name": "c" * 53}},
            [f'metadata.name: Invalid value: "{"c" * 53}": must be no more than 52 characters'],
        ),
    ],
)
def test_on_create(problems, patch, expected):
    assert problems(CRON_JOB, CRON, patch) == expected


def test_what_a_new_one_gets():
    obj = {"spec": {"jobTemplate": {}}}
    CRON_JOB.rules.default(obj)
    assert obj["spec"]["concurrencyPolicy"] == "Allow"
    assert (obj["spec"]["successfulJobsHistoryLimit"], obj["spec"]["failedJobsHistoryLimit"]) == (3, 1)
    assert obj["spec"]["jobTemplate"]["spec"]["template"]["spec"]["restartPolicy"] == "Always"
