"""Questions about labels, found by a value that they ask for."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.anchors import Anchors
from posse.engine.pod_query import PodSelector
from posse.model.selectors import LabelQuery, LabelRequirement

KEYS, VALUES = st.sampled_from("abc"), st.sampled_from("xyz")
REQUIREMENTS = st.builds(
    LabelRequirement,
    KEYS,
    st.sampled_from(["In", "NotIn", "Exists"]),
    st.lists(VALUES, min_size=1, max_size=2).map(tuple),
)
SELECTORS = st.lists(REQUIREMENTS, max_size=3).map(
    lambda found: PodSelector(LabelQuery(tuple(found)), ("ns",))
)
QUESTIONS = st.lists(SELECTORS, min_size=1, max_size=2).map(tuple)


@given(st.lists(QUESTIONS, unique=True, max_size=6), st.dictionaries(KEYS, VALUES), st.data())
def test_whatever_matches_is_near_and_nothing_comes_twice(questions, labels, data):
    anchors = Anchors()
    for question in questions:
        anchors.add(question, question)
    gone = data.draw(st.sets(st.sampled_from(questions))) if questions else set()
    for question in gone:
        anchors.remove(question, question)
    near = list(anchors.near(labels))
    assert len(near) == len(set(near))
    matching = [one for one in questions if all(part.matches("ns", {}, labels) for part in one)]
    assert set(matching) - gone <= set(near) <= set(questions) - gone


def test_questions_that_ask_for_other_values_are_not_near():
    anchors = Anchors()
    for value in "xy":
        selector = PodSelector(LabelQuery((LabelRequirement("a", "In", (value,)),)), ("ns",))
        anchors.add(value, [selector])
    assert list(anchors.near({"a": "x", "b": "y"})) == ["x"]
