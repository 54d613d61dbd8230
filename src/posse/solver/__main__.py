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
    # Who asks decides when this ends; a Ctrl-C is meant for them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # When they are gone before they are answered, there is nothing to complain about.
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
