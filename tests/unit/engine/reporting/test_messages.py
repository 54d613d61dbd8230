"""Every cause of a refusal, and every state of a preemption, has words."""

from typing import get_args

import pytest

from posse.engine.causes import Cause
from posse.engine.reporting.cause_messages import sentences
from posse.engine.reporting.messages import preemption_text
from posse.engine.verdict import GroupPreemption, PodPreemption


@pytest.mark.parametrize("cause", [one for one in get_args(Cause) if one is not type(None)])
def test_every_cause_has_sentences(cause):
    assert cause in sentences.registry


@pytest.mark.parametrize("progress", [*get_args(PodPreemption), *get_args(GroupPreemption)])
def test_every_state_of_a_preemption_has_a_sentence(progress):
    assert progress in preemption_text.registry
