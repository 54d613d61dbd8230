"""Every figure of a policy over all samples of a trace: its mean, and how sure that is."""

from collections.abc import Sequence
from dataclasses import fields

from posse.simulation.comparison import PolicyRun
from posse.simulation.record import Figures
from posse.simulation.samples import Estimate, difference, estimate

_NAMES = tuple(one.name for one in fields(Figures))


def estimates_of(runs: Sequence[PolicyRun]) -> dict[str, Estimate]:
    """By the name of the figure."""
    return {name: estimate(_values(runs, name)) for name in _NAMES}


def differences_of(runs: Sequence[PolicyRun], first: Sequence[PolicyRun]) -> dict[str, Estimate]:
    """How much larger the figures are than those of the first policy, sample by sample."""
    return {name: difference(_values(runs, name), _values(first, name)) for name in _NAMES}


def _values(runs: Sequence[PolicyRun], name: str) -> list[float]:
    return [float(getattr(run.figures, name)) for run in runs]
