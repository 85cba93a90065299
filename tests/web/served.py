"""A page as it is served, asked without a browser."""

import http.client
import json
import socket
from contextlib import contextmanager
from urllib.parse import urlsplit

from gradio_client import Client

from duoviz.web import serving
from duoviz.web.app import build_app

GENERATE = "/gradio_api/call/v2/generate"


def client_of(url: str) -> Client:
    """Gradio's client, which waits for each answer for as long as it takes: the machine may be busy."""
    return Client(url, verbose=False, httpx_kwargs={"timeout": None})


class Page:
    """A served page. demo: its Blocks. address: its host and port."""

    def __init__(self, url, demo, hardware):
        self.url, self.demo, self.hardware = url, demo, hardware
        parts = urlsplit(url)
        self.address = parts.hostname, parts.port

    def ask(self, method, path, body=None, **headers):
        """(status, headers, content) of one request; a body that is no bytes goes as JSON."""
        if body is not None:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers = {"Content_Type": "application/json"} | headers
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def raw(self, request):
        """What the server answers to these bytes, until it closes the connection."""
        with socket.create_connection(self.address, 30) as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def body(self, name, *values, **changes):
        """A call of the page's own function with this name."""
        number = next(number for number, each in self.demo.fns.items() if each.name == name)
        return {"fn_index": number, "session_hash": "ann", "data": [*values]} | changes

    def join(self, name, *values, **changes):
        """(status, sentence) of such a call."""
        status, _, told = self.ask("POST", "/gradio_api/queue/join", self.body(name, *values, **changes))
        return status, told.decode()

    def begin(self, body, **headers):
        """Post a run and listen to it: the stream."""
        status, _, answer = self.ask("POST", GENERATE, body, **headers)
        assert status == 200, answer
        return self.listen(f"{GENERATE}/{json.loads(answer)['event_id']}")

    def listen(self, path):
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        connection.request("GET", path)
        return connection

    def client(self):
        return client_of(self.url)


@contextmanager
def served(hardware, demo=None, **options):
    """A page while it is served; options: of `launch`."""
    demo = demo or build_app(hardware)
    _, url, _ = serving.launch(demo, hardware, prevent_thread_lock=True, quiet=True, **options)
    try:
        yield Page(url, demo, hardware)
    finally:
        for job in list(hardware.queue.jobs):
            job.stop.set()
        demo.close()
