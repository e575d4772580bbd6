# SPDX-License-Identifier: BSD-3-Clause
"""What the tests' own servers share: a free port of the loopback, connections accepted in a thread until closed."""

import socket
import threading


class TcpServer:
    """Listens on ``port`` from the start; a subclass says in :meth:`_talk` what happens on a connection, one after another.

    ``concurrent`` gives each connection a thread of its own.
    """

    def __init__(self, *, concurrent: bool = False) -> None:
        self._concurrent = concurrent
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._socket.settimeout(0.1)
        self.port = self._socket.getsockname()[1]
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def close(self) -> None:
        """Accept no more, and wait for the connections there are."""
        self._done.set()
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while not self._done.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            if self._concurrent:
                self._threads.append(threading.Thread(target=self._talk, args=[connection]))
                self._threads[-1].start()
            else:
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        raise NotImplementedError
