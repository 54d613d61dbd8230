"""How puzzles travel to the process that solves them and answers come back: a length in four bytes, then msgpack."""

import msgspec

from posse.engine.placement_problem import PlacementProblem, RemedyProblem

LENGTH_BYTES = 4


class SolveRequest(msgspec.Struct, tag=True):
    """Answered by a Solution."""

    problem: PlacementProblem
    effort: float


class AdviseRequest(msgspec.Struct, tag=True):
    """Answered by a sentence."""

    remedy_problem: RemedyProblem


Request = SolveRequest | AdviseRequest


def frame(message: object) -> bytes:
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES) + body
