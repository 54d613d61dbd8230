"""Solves puzzles for another process: they come in on standard input, answers go out in the same order.

The process ends when nobody writes to it any more.
"""

import signal
import sys

import msgspec

from posse.engine.placement_problem import Solution
from posse.solver.advice import in_short
from posse.solver.frames import LENGTH_BYTES, AdviseRequest, Request, frame
from posse.solver.solving import solve


def main() -> None:
    # A caller that is gone needs no answer and no complaint.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := requests.read(LENGTH_BYTES):
        body = requests.read(int.from_bytes(header))
        if len(body) < int.from_bytes(header):
            return
        request = msgspec.msgpack.decode(body, type=Request)
        answers.write(frame(_answer(request)))
        answers.flush()


def _answer(request: Request) -> Solution | str:
    if isinstance(request, AdviseRequest):
        return in_short(request.remedy_problem)
    return solve(request.problem, request.effort)


if __name__ == "__main__":
    main()
