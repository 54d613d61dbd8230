"""A relay to a port on loopback whose connections can be made to fall silent: open on both sides, and dead."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SilentRelay:
    def __init__(self, target: int, listener: socket.socket | None = None) -> None:
        """It listens on loopback, if not elsewhere."""
        self._target = target
        self._listener = listener or socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[_Pair] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> int:
        """Forward nothing any more on the connections there are; new ones work. Return how many there are."""
        silenced, self._open = self._open, []
        for pair in silenced:
            pair.is_silent.set()
        return len([pair for pair in silenced if not pair.has_ended.is_set()])

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._open.append(_Pair(self._listener.accept()[0], self._target))


class _Pair:
    def __init__(self, client: socket.socket, target: int) -> None:
        self.is_silent = threading.Event()
        self.has_ended = threading.Event()
        server = socket.create_connection(("127.0.0.1", target))
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError), source:
            while data := source.recv(65536):
                # What comes is taken, so that the system reports no silence.
                if not self.is_silent.is_set():
                    sink.sendall(data)
            self.has_ended.set()
            # The other side need not be told once one has ended.
            sink.shutdown(socket.SHUT_RDWR)


@contextmanager
def silent_relay(target: int, listener: socket.socket | None = None) -> Iterator[SilentRelay]:
    relay = SilentRelay(target, listener)
    try:
        yield relay
    finally:
        relay.close()
