"""A server on this machine that stands in for another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Says nothing of the requests; address: of the server."""

    protocol_version = "HTTP/1.1"
    address = ""

    def log_message(self, *arguments):
        pass

    def reply(self, status: int, content: bytes, *, most: int | None = None, **headers: object) -> None:
        """Answer with this content, of which no more than `most` bytes are sent."""
        self.send_response(status)
        for name, value in {"Content-Length": len(content), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content[:most])
        self.wfile.flush()


@contextmanager
def serving(handler: type[Handler], **state: Any) -> Iterator[type[Handler]]:
    """A handler with this state, which may be changed while it serves."""
    handler = type("Serving", (handler,), state)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    try:
        yield handler
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
