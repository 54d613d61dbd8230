"""How puzzles travel to the process that solves them and answers come back: a length in four bytes, then msgpack."""

import msgspec

from posse.engine.puzzle import Impasse, Puzzle

LENGTH_BYTES = 4


class SolveRequest(msgspec.Struct, tag=True):
    """Answered by a Solution."""

    puzzle: Puzzle
    effort: float


class AdviseRequest(msgspec.Struct, tag=True):
    """Answered by a sentence."""

    impasse: Impasse


Request = SolveRequest | AdviseRequest


def frame(message: object) -> bytes:
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES) + body
