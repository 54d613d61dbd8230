"""Solves problems for another process: they come in on standard input, answers go out in the same order.

The process ends when its standard input is closed.
"""

import signal
import sys

import msgspec

from posse.engine.forecast.forecast_problem import StartEstimate
from posse.engine.placement_problem import Remedies, Solution
from posse.solver.frames import LENGTH_BYTES, AdviseRequest, ForecastRequest, Request, frame
from posse.solver.rollouts import estimate_starts


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


def _answer(request: Request) -> Solution | Remedies | list[StartEstimate] | None:
    # Forecasts have a process of their own, which needs no constraint solver: that is large.
    if isinstance(request, ForecastRequest):
        return estimate_starts(request.forecast_problem)
    from posse.solver.remedies import remedies  # noqa: PLC0415
    from posse.solver.solving import solve  # noqa: PLC0415

    if isinstance(request, AdviseRequest):
        return remedies(request.remedy_problem)
    return solve(request.problem, request.effort)


if __name__ == "__main__":
    main()
