"""Questions about labels, found by a value that they ask for."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.pods.census import SelectorIndex
from posse.engine.pods.selectors import PodSelector
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
    selector_index = SelectorIndex()
    for question in questions:
        selector_index.add(question, question)
    gone = data.draw(st.sets(st.sampled_from(questions))) if questions else set()
    for question in gone:
        selector_index.remove(question, question)
    near = list(selector_index.near(labels))
    assert len(near) == len(set(near))
    matching = [one for one in questions if all(part.matches("ns", {}, labels) for part in one)]
    assert set(matching) - gone <= set(near) <= set(questions) - gone


def test_questions_that_ask_for_other_values_are_not_near():
    selector_index = SelectorIndex()
    for value in "xy":
        selector = PodSelector(LabelQuery((LabelRequirement("a", "In", (value,)),)), ("ns",))
        selector_index.add(value, [selector])
    assert list(selector_index.near({"a": "x", "b": "y"})) == ["x"]
