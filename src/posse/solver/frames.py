"""The wire format of problems and answers between processes: a length in four bytes, then msgpack."""

import msgspec

from posse.engine.forecast.forecast_problem import ForecastProblem
from posse.engine.placement_problem import PlacementProblem, RemedyProblem

LENGTH_BYTES = 4


class SolveRequest(msgspec.Struct, tag=True):
    """Answered by a Solution."""

    problem: PlacementProblem
    effort: float


class AdviseRequest(msgspec.Struct, tag=True):
    """Answered by Remedies, or None."""

    remedy_problem: RemedyProblem


class ForecastRequest(msgspec.Struct, tag=True):
    """Answered by a list of StartEstimates."""

    forecast_problem: ForecastProblem


Request = SolveRequest | AdviseRequest | ForecastRequest


def frame(message: object) -> bytes:
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES) + body
