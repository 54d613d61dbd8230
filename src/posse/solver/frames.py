"""How puzzles travel to the process that solves them and answers come back: a length in four bytes, then msgpack."""

import msgspec

from posse.engine.puzzle import Puzzle

LENGTH_BYTES = 4


class Request(msgspec.Struct):
    puzzle: Puzzle
    effort: float


def frame(message: object) -> bytes:
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES) + body
