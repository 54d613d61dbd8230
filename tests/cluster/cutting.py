"""A relay to a port on loopback that no connection survives for long."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

LIFE_SECONDS = 1.0


@contextmanager
def cut_every_second(target: int) -> Iterator[int]:
    """Give the port of the relay. Every second, all connections through it are cut, whatever is under way on them."""
    listener = socket.create_server(("127.0.0.1", 0))
    relay = _Relay(listener, target)
    threads = [threading.Thread(target=work, daemon=True) for work in (relay.accept, relay.cut)]
    for thread in threads:
        thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        relay.ended.set()
        listener.close()


class _Relay:
    def __init__(self, listener: socket.socket, target: int) -> None:
        self._listener = listener
        self._target = target
        self._open: list[socket.socket] = []
        self.ended = threading.Event()

    def accept(self) -> None:
        while not self.ended.is_set():
            with contextlib.suppress(OSError):
                self._connect(self._listener.accept()[0])

    def cut(self) -> None:
        while not self.ended.wait(LIFE_SECONDS):
            cut, self._open = self._open, []
            for one in cut:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _connect(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._target))
        self._open += [client, server]
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=_copy, args=(source, sink), daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError), source:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_RDWR)
