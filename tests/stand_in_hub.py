"""A stand-in for the Hugging Face hub on this machine: what its client asks for when a Space is made or updated."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from huggingface_hub.utils import sha

from tests import stand_in

# What the hub puts into a Space that it makes.
BLANK = {".gitattributes": b"", "README.md": b"---\nsdk: gradio\n"}


@dataclass
class Space:
    """One repository, and the machine that it asks for."""

    files: dict[str, bytes] = field(default_factory=BLANK.copy)
    private: bool = False
    hardware: str = "cpu-basic"
    commits: int = 1

    def oid(self, path: str, mode: str) -> str | None:
        """What the hub knows a file by: SHA-256 if it is stored apart, else git's hash."""
        if path not in self.files:
            return None
        content = self.files[path]
        return hashlib.sha256(content).hexdigest() if mode == "lfs" else sha.git_hash(content)


class Hub:
    """users: by token, their name and organisations. stored: contents by SHA-256.

    spoilt: by the beginning of "METHOD /path", a status and a reason (or a page of bytes) to answer with
    instead, or None to cut the connection. requests: all "METHOD /path" so far.
    """

    def __init__(self):
        self.users = {"token": {"name": "me", "orgs": [{"name": "lab"}]}}
        self.spaces: dict[str, Space] = {}
        self.stored: dict[str, bytes] = {}
        self.spoilt: dict[str, tuple[int, str | bytes] | None] = {}
        self.requests: list[str] = []
        self.lock = threading.Lock()
        self.address = ""

    def asked(self, beginning: str) -> list[str]:
        """The requests that begin so."""
        return [request for request in self.requests if request.startswith(beginning)]

    def may_write(self, user: dict, name: str) -> bool:
        return name.split("/")[0] in (user["name"], *(each["name"] for each in user["orgs"]))


class Refused(Exception):
    """status, the hub's word for it, its reason."""


class Handler(stand_in.Handler):
    hub: Hub

    def answer(self):
        path = self.path.split("?")[0]
        request = f"{self.command} {path}"
        with self.hub.lock:
            self.hub.requests.append(request)
        spoilt = [self.hub.spoilt[beginning] for beginning in self.hub.spoilt if request.startswith(beginning)]
        if spoilt and spoilt[0] is None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)) // 2)
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            if spoilt:
                raise Refused(spoilt[0][0], "", spoilt[0][1])
            with self.hub.lock:
                status, content, headers = 200, self.result(path, body), {}
        except Refused as error:
            status, code, reason = error.args
            content = reason if isinstance(reason, bytes) else {"error": reason}
            headers = {"X-Error-Code": code} if code else {}
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.reply(status, content, **{"Content-Type": "application/json"}, **headers)

    do_GET = do_POST = do_PUT = answer

    def result(self, path: str, body: bytes) -> dict | list | bytes:
        if path.startswith("/stored/"):
            self.hub.stored[path.removeprefix("/stored/")] = body
            return b""
        user = self.hub.users.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if user is None:
            raise Refused(401, "", "Invalid username or password.")
        if path == "/api/whoami-v2":
            return user
        if path == "/api/validate-yaml":
            return {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            return self.create(user, json.loads(body))
        if "/spaces/" not in path:
            raise Refused(404, "", "not found")
        owner, name, *what = path.partition("/spaces/")[2].split("/")
        return self.of_space(user, f"{owner}/{name.removesuffix('.git')}", "/".join(what), body)

    def create(self, user: dict, wish: dict) -> dict:
        name = f"{wish['organization']}/{wish['name']}"
        if not self.hub.may_write(user, name):
            raise Refused(403, "", f'You don\'t have the rights to create a space under the namespace "{name}"')
        assert wish["type"] == "space" and wish["sdk"] == "gradio" and name not in self.hub.spaces
        self.hub.spaces[name] = Space(
            private=wish.get("visibility") == "private", hardware=wish.get("hardware", "cpu-basic")
        )
        return {"url": f"{self.hub.address}/spaces/{name}"}

    def of_space(self, user: dict, name: str, what: str, body: bytes) -> dict | bytes:
        space = self.hub.spaces.get(name)
        if space is None or space.private and user["name"] != name.split("/")[0]:
            raise Refused(404, "RepoNotFound", "Repository not found")
        if what in ("", "revision/main"):
            return {
                "id": name,
                "sha": f"{space.commits:040x}",
                "private": space.private,
                "siblings": [{"rfilename": file} for file in space.files],
                "runtime": {"stage": "RUNNING", "hardware": {"current": space.hardware, "requested": space.hardware}},
            }
        if not self.hub.may_write(user, name):
            raise Refused(403, "", "Forbidden: you have no write access to this repository")
        if what == "settings":
            space.private = json.loads(body)["visibility"] == "private"
            return {}
        if what == "hardware":
            space.hardware = json.loads(body)["flavor"]
            return {"stage": "BUILDING", "hardware": {"current": None, "requested": space.hardware}}
        if what == "preupload/main":
            return {"files": [self.mode(space, file) for file in json.loads(body)["files"]]}
        if what == "info/lfs/objects/batch":
            return {"objects": [self.place(each) for each in json.loads(body)["objects"]]}
        assert what == "commit/main", what
        return self.commit(name, space, [json.loads(line) for line in body.splitlines()])

    def mode(self, space: Space, file: dict) -> dict:
        binary = b"\0" in base64.b64decode(file["sample"]) or file["size"] > 10_000_000
        mode = "lfs" if binary else "regular"
        known = {"oid": oid} if (oid := space.oid(file["path"], mode)) else {}
        return {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, **known}

    def place(self, wanted: dict) -> dict:
        known = {"oid": wanted["oid"], "size": wanted["size"]}
        if wanted["oid"] in self.hub.stored:
            return known
        return known | {"actions": {"upload": {"href": f"{self.hub.address}/stored/{wanted['oid']}"}}}

    def commit(self, name: str, space: Space, lines: list[dict]) -> dict:
        files = dict(space.files)
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "deletedFile":
                if files.pop(value["path"], None) is None:
                    raise Refused(404, "EntryNotFound", "A file with this name doesn't exist")
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.whole(value["oid"], value["size"])
            else:
                files[value["path"]] = base64.b64decode(value["content"])
                if b"\0" in files[value["path"]]:
                    raise Refused(400, "", "Your push was rejected because it contains binary files.")
        assert lines[1:], "the hub's client sends no empty commit"
        space.files, space.commits = files, space.commits + 1
        oid = f"{space.commits:040x}"
        return {"commitUrl": f"{self.hub.address}/spaces/{name}/commit/{oid}", "commitOid": oid}

    def whole(self, oid: str, size: int) -> bytes:
        """The content stored under this SHA-256."""
        content = self.hub.stored.get(oid)
        if content is not None and len(content) == size and hashlib.sha256(content).hexdigest() == oid:
            return content
        raise Refused(400, "", f"The content of {oid} is not there")


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub with nothing on it; its state may be changed while it serves."""
    hub = Hub()
    with stand_in.serving(Handler, hub=hub) as handler:
        hub.address = handler.address
        yield hub
