"""A hub on this machine."""

import hashlib
import json

from tests import stand_in

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(stand_in.Handler):
    """The parts of the hub's API that a snapshot asks for.

    repos: files by model id. gated: ids that need a token. counted: how many numbers the hub says that a model has.
    cut: send only so many bytes of a large file, then close the connection. asked: the paths of all requests for files.
    """

    repos: dict = {}
    gated: set = set()
    counted: dict = {}
    cut: int | None = None
    asked: list = []

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
        if body and self.cut is not None and len(content) > self.cut:
            self.close_connection = True
        super().reply(status, content, most=self.cut if body else 0, **headers)


def serving(**state):
    """A hub with this state; gives the handler, whose state may be changed."""
    return stand_in.serving(Hub, asked=[], **state)
