"""A hub on this machine."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """The parts of the hub's API that a snapshot asks for.

    repos: files by model id. gated: ids that need a token. counted: how many numbers the hub says that a model has.
    cut: send only so many bytes of a large file, then close the connection. asked: the paths of all requests for files.
    """

    protocol_version = "HTTP/1.1"
    repos: dict = {}
    gated: set = set()
    counted: dict = {}
    cut: int | None = None
    asked: list = []

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        path = self.path.split("?")[0].strip("/")
        if path.startswith("api/models/"):
            owner, name, what = [*path.removeprefix("api/models/").split("/"), "revision"][:3]
            return self.about(f"{owner}/{name}", what)
        if "/resolve/" not in path:
            return self.reply(404, b"")
        owner, name, _, _, file = path.split("/", 4)
        content = self.repos[f"{owner}/{name}"][file]
        if body:
            self.asked.append(file)
        if "Range" in self.headers:
            return self.reply(503, b"")
        etag = hashlib.sha256(content).hexdigest()
        self.reply(200, content, body=body, ETag=f'"{etag}"', **{"X-Repo-Commit": COMMIT})

    def about(self, model, what):
        if model not in self.repos:
            return self.reply(404, b"{}", **{"X-Error-Code": "RepoNotFound"})
        if model in self.gated:
            return self.reply(403, b"{}", **{"X-Error-Code": "GatedRepo"})
        files = self.repos[model]
        if what == "revision":
            siblings = [{"rfilename": name, "size": len(data)} for name, data in files.items()]
            content = {"id": model, "modelId": model, "sha": COMMIT, "siblings": siblings}
            if model in self.counted:
                content["safetensors"] = {"parameters": {"F32": self.counted[model]}, "total": self.counted[model]}
        else:
            content = [
                {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for name, data in files.items()
            ]
        self.reply(200, json.dumps(content).encode(), **{"Content-Type": "application/json"})

    def reply(self, status, content, *, body=True, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(content), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if body and self.cut is not None and len(content) > self.cut:
            self.wfile.write(content[: self.cut])
            self.close_connection = True
        elif body:
            self.wfile.write(content)


@contextmanager
def serving(**state):
    """A hub with this state; gives the handler, whose state may be changed."""
    handler = type("ThisHub", (Hub,), {"asked": [], **state})
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
