"""What groups state by annotations, and that what makes no sense is named and not used."""

import pytest

from posse.engine.groups.annotations import (
    EXPECTED_DURATION,
    GROUP_ANNOTATIONS,
    MAX_PREFERRED_LEVELS,
    MINIMUM_RUN_TIME,
    PREFERRED_TOPOLOGY,
    AnnotationProblem,
    stated_labels,
    stated_seconds,
)
from posse.engine.keys import GroupKey
from posse.engine.reporting.annotation_messages import annotation_text
from posse.engine.reporting.parts import INVALID_ANNOTATION
from tests.support.builders import NAMESPACE, changed, composite, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, group_warnings, placements

NO_DURATIONS = [
    "",
    "soon",
    "-5m",
    "5",
    "NaN",
    "inf",
    "1e9s",
    "\u0661h",
    "300 years",
    "9" * 5000 + "h",
    "m" * 65,
]
OUT_OF_RANGE = ["0", "0s", "9999999h", "9" * 60 + "h"]
LONGEST = 250
ESCAPED = r"\x1b[2J" * 40


def annotated(obj, **texts):
    names = {"expected": EXPECTED_DURATION, "minimum": MINIMUM_RUN_TIME, "preferred": PREFERRED_TOPOLOGY}
    return changed(obj, metadata={"annotations": {names[name]: text for name, text in texts.items()}})


def faults(driver, name="g1"):
    return [
        annotation_text(one) for one in driver.engine.explain(GroupKey(NAMESPACE, name)).annotation_faults
    ]


@pytest.mark.parametrize("text", [*NO_DURATIONS, *OUT_OF_RANGE])
@pytest.mark.parametrize("name", [EXPECTED_DURATION, MINIMUM_RUN_TIME])
def test_a_duration_that_makes_no_sense_is_not_used_and_named_in_few_words(name, text):
    seconds, fault = stated_seconds(name, text)
    problem = AnnotationProblem.OUT_OF_RANGE if text in OUT_OF_RANGE else AnnotationProblem.NO_DURATION
    assert (seconds, fault.problem) == (None, problem)
    told = annotation_text(fault)
    assert told.startswith(f"annotation {name}: {text[:20]!r}"[:-1])
    assert len(told) < LONGEST


def test_a_duration_counts_from_one_nanosecond_to_ten_years():
    assert stated_seconds(EXPECTED_DURATION, "1ns") == (1e-9, None)
    assert stated_seconds(EXPECTED_DURATION, "87600h") == (87600 * 3600.0, None)
    assert stated_seconds(EXPECTED_DURATION, None) == (None, None)


@pytest.mark.parametrize(
    ("text", "keys", "told"),
    [
        ("block, example.com/rack", ("block", "example.com/rack"), []),
        ("", (), ["'' has an empty place where a label is expected"]),
        ("block,,rack,", ("block", "rack"), ["'block,,rack,' has an empty place where a label is expected"]),
        (
            "ra ck, block, /x",
            ("block",),
            [
                "'ra ck' is not the key of a label, such as topology.kubernetes.io/zone",
                "'/x' is not the key of a label, such as topology.kubernetes.io/zone",
            ],
        ),
        (
            "\x1b[2J" * 40,
            (),
            [f"'{ESCAPED[:64]}'... is not the key of a label, such as topology.kubernetes.io/zone"],
        ),
        (
            ",".join("abcdefghij"),
            tuple("abcdefgh"),
            ["'i,j' comes after the first 8 labels, which count"],
        ),
    ],
)
def test_labels_that_make_no_sense_are_named_and_the_others_are_used(text, keys, told):
    found, wrong = stated_labels(text)
    assert found == keys
    assert [annotation_text(one) for one in wrong] == [
        f"annotation {PREFERRED_TOPOLOGY}: {one}" for one in told
    ]


@pytest.mark.parametrize("text", ["," * 200_000, "x" * 200_000, "\u202e" * 200_000, "a/" * 100_000])
def test_a_huge_text_is_told_in_few_words(text):
    keys, wrong = stated_labels(text)
    assert keys == ()
    assert len(wrong) <= 2
    assert all(len(annotation_text(one)) < LONGEST for one in wrong)


def test_what_is_wrong_is_an_event_once_and_the_group_starts():
    group = annotated(gang(minimum=2), expected="soon", minimum="-5m", preferred="ra ck")
    driver = Driver(*nodes(2), group, *pods(2, group="g1"))
    decisions = driver.decide()
    assert len(placements(decisions)) == 2
    [(name, reason, message)] = group_warnings(decisions)
    assert (name, reason) == ("g1", INVALID_ANNOTATION)
    assert message == "; ".join(
        [
            f"annotation {EXPECTED_DURATION}: 'soon' is not a duration such as 90m or 1h30m",
            f"annotation {MINIMUM_RUN_TIME}: '-5m' is not a duration such as 90m or 1h30m",
            f"annotation {PREFERRED_TOPOLOGY}: 'ra ck' is not the key of a label, such as topology.kubernetes.io/zone",
        ]
    )
    driver.see(changed(group, metadata={"resource_version": "7"}))
    assert group_warnings(driver.decide(after=10)) == []
    driver.see(annotated(gang(minimum=2), minimum="forever"))
    [(_, _, message)] = group_warnings(driver.decide())
    assert "'forever'" in message
    driver.see(annotated(gang(minimum=2), minimum="5m"))
    assert group_warnings(driver.decide()) == []


def test_an_event_about_many_faults_is_bounded():
    wrong = ",".join(f"?{number}{'x' * 80}" for number in range(MAX_PREFERRED_LEVELS + 1))
    driver = Driver(node(), annotated(gang(minimum=1), preferred=wrong), pod("p", group="g1"))
    [(_, _, message)] = group_warnings(driver.decide())
    assert len(message) < 1024
    assert message.endswith("; 6 more")


def test_a_wrong_annotation_of_the_first_pod_is_told_of_its_group():
    driver = Driver(node(), gang(minimum=1), annotated(pod("p", group="g1"), preferred="?"))
    [(name, reason, _)] = group_warnings(driver.decide())
    assert (name, reason) == ("g1", INVALID_ANNOTATION)


def test_what_the_group_states_counts_before_its_pods_even_if_it_makes_no_sense():
    driver = Driver(
        node(), annotated(gang(minimum=1), minimum=""), annotated(pod("p", group="g1"), minimum="5m")
    )
    driver.decide()
    assert driver.engine.explain(GroupKey(NAMESPACE, "g1")).situation.minimum_run_seconds == 0
    assert faults(driver) == [f"annotation {MINIMUM_RUN_TIME}: '' is not a duration such as 90m or 1h30m"]


def test_a_label_that_no_node_has_is_told_by_an_explanation_and_is_no_event():
    driver = Driver(
        node(labels={"rack": "r1"}), annotated(gang(minimum=1), preferred="room, rack"), pod("p", group="g1")
    )
    assert group_warnings(driver.decide()) == []
    assert faults(driver) == [
        f"annotation {PREFERRED_TOPOLOGY}: 'room' is a label that no node has, so it has no effect"
    ]


def test_an_annotation_on_a_composite_group_is_told_to_belong_to_groups_below_it():
    top = annotated(composite("top", minimum=1), minimum="5m")
    child = gang("g1", 1, parent_composite_pod_group_name="top")
    driver = Driver(node(), top, child, pod("p", group="g1"))
    [(name, reason, message)] = group_warnings(driver.decide())
    assert (name, reason) == ("top", INVALID_ANNOTATION)
    assert message == (
        f"annotation {MINIMUM_RUN_TIME}: '5m' is on a CompositePodGroup; write it to the PodGroups below it"
    )


def test_every_annotation_is_read_with_its_faults():
    group = changed(gang(minimum=1), metadata={"annotations": dict.fromkeys(GROUP_ANNOTATIONS, "?")})
    driver = Driver(node(), group, pod("p", group="g1"))
    told = faults(driver)
    assert [name for name in GROUP_ANNOTATIONS if not any(name in one for one in told)] == []
