"""Every cause of a refusal, and every state of a preemption, has words."""

from typing import get_args

import pytest

from posse.engine.causes import Cause, ClassShortfall, ResourceLack, TooFewFit, TooManySteps
from posse.engine.reporting.cause_messages import sentences
from posse.engine.reporting.messages import preemption_text
from posse.engine.verdict import GroupPreemption, PodPreemption


@pytest.mark.parametrize("cause", [one for one in get_args(Cause) if one is not type(None)])
def test_every_cause_has_sentences(cause):
    assert cause in sentences.registry


@pytest.mark.parametrize("progress", [*get_args(PodPreemption), *get_args(GroupPreemption)])
def test_every_state_of_a_preemption_has_a_sentence(progress):
    assert progress in preemption_text.registry


def test_pods_that_lack_the_same_are_counted_together():
    """They differ in something else, such as what they tolerate."""
    cpu, slots = (
        ResourceLack("cpu", 2000, 4, (0, 0), (4000, 4000)),
        ResourceLack("pods", 1, 1, (0, 0), (9, 9)),
    )
    short = tuple(
        ClassShortfall(pods, TooManySteps(), lack) for pods, lack in [(1, cpu), (2, slots), (3, cpu)]
    )
    assert sentences(TooFewFit(9, 0, 0, short))[0] == (
        "none of the 9 pods that must start together fit; 4 lack cpu (2 each): 4 nodes have none left, "
        "2 lack a free pod slot: 1 node has none left"
    )
