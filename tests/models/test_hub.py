"""Fetching from a small server on this machine that answers as the hub does."""

import hashlib
import json
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import pytest
from huggingface_hub import constants

from duoviz.decoding.forward import Stopped
from duoviz.errors import UserError
from duoviz.models import hub
from duoviz.models.files import find_files

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

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        body = self.command == "GET"
        path = self.path.split("?")[0].strip("/")
        if path.startswith("api/models/"):
            owner, name, what = [*path.split("/")[2:], "revision"][:3]
            return self.about(f"{owner}/{name}", what)
        owner, name, _, _, file = path.split("/", 4)
        content = self.repos[f"{owner}/{name}"][file]
        if body:
            self.asked.append(file)
        if "Range" in self.headers:
            return self.reply(503, b"")
        etag = hashlib.sha256(content).hexdigest()
        self.reply(200, content, body=body, ETag=f'"{etag}"', **{"X-Repo-Commit": COMMIT})

    do_HEAD = do_GET

    def about(self, model, what):
        """The model, or what lies in it."""
        if model not in self.repos or model in self.gated:
            status, code = (403, "GatedRepo") if model in self.gated else (404, "RepoNotFound")
            return self.reply(status, b"{}", **{"X-Error-Code": code})
        sizes = {name: len(data) for name, data in self.repos[model].items()}
        siblings = [{"rfilename": name, "size": size} for name, size in sizes.items()]
        content = {"id": model, "modelId": model, "sha": COMMIT, "siblings": siblings}
        if model in self.counted:
            content["safetensors"] = {"parameters": {}, "total": self.counted[model]}
        files = [{"type": "file", "path": name, "size": size, "oid": name} for name, size in sizes.items()]
        content = content if what == "revision" else files
        self.reply(200, json.dumps(content).encode(), **{"Content-Type": "application/json"})

    def reply(self, status, content, *, body=True, **headers):
        if body and self.cut is not None and len(content) > self.cut:
            self.close_connection = True
        self.send_response(status)
        for name, value in {"Content-Length": len(content), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content[: self.cut if body else 0])


WEIGHTS = bytes(range(256)) * 400
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2}
OTHERS = {"config.json": json.dumps(CONFIG).encode(), "pytorch_model.bin": WEIGHTS, "onnx/model.safetensors": WEIGHTS}
MODEL = {"config.json": b"{}", "tokenizer.json": b"[]", "model.safetensors": WEIGHTS, "training.log": b"not wanted"}


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """A function that serves a hub in this state, which huggingface_hub uses, with an empty cache."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    @contextmanager
    def served(**state):
        handler = type("Serving", (Hub,), {"asked": [], "repos": {"them/model": MODEL}} | state)
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            address = f"http://127.0.0.1:{server.server_port}"
            Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            monkeypatch.setattr(constants, "ENDPOINT", address)
            template = address + "/{repo_id}/resolve/{revision}/{filename}"
            monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
            yield handler
            server.shutdown()

    return served


def test_a_download_tells_how_far_it_is_and_serves_without_a_network(serve):
    updates = []
    with serve() as server:
        folder = hub.fetch("them/model", lambda *update: updates.append(update))
        assert {file.name for file in folder.iterdir()} == set(MODEL) - {"training.log"}
        assert (folder / "model.safetensors").read_bytes() == WEIGHTS
        assert updates[-1] == (1.0, "Downloading them/model (0.1 of 0.1 MB)")
        assert all(0 < fraction <= 1 for fraction, _ in updates)
        server.asked.clear()
        assert hub.fetch("them/model", pytest.fail) == folder
        assert server.asked == []
    assert hub.fetch("them/model", pytest.fail) == folder


@pytest.mark.parametrize("ask", [find_files, hub.outline])
@pytest.mark.parametrize(
    "state, sentence",
    [
        ({"repos": {}}, "The hub has no model them/model"),
        ({"gated": {"them/model"}}, "accept its licence at .* set HF_TOKEN"),
        ({"repos": {"them/model": OTHERS}}, "them/model has no safetensors weights"),
    ],
    ids=["no such model", "gated", "other weights"],
)
def test_what_the_hub_does_not_give_or_tell(ask, state, sentence, serve):
    with serve(**state) as server:
        with pytest.raises(UserError, match=sentence):
            ask("them/model")
        assert "pytorch_model.bin" not in server.asked
    with pytest.raises(UserError, match="neither a folder nor a model"):
        ask("no such name!")


def test_no_network_and_no_copy(serve, monkeypatch):
    with serve():
        pass
    with pytest.raises(UserError, match="them/model is not on this machine, and the hub cannot be reached"):
        hub.fetch("them/model")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="HF_HUB_OFFLINE"):
        hub.fetch("them/model")


def test_a_connection_that_is_cut_leaves_nothing_half_done(serve, monkeypatch):
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(**vars(time) | {"sleep": lambda _: None}))
    with serve(cut=5000) as server:
        with pytest.raises(UserError, match="The download of them/model was interrupted"):
            hub.fetch("them/model")
        server.cut = None
        assert (hub.fetch("them/model") / "model.safetensors").read_bytes() == WEIGHTS


def test_the_progress_can_end_a_download(serve):
    def stop(fraction, text):
        raise Stopped

    with serve():
        with pytest.raises(Stopped):
            hub.fetch("them/model", stop)
        assert (hub.fetch("them/model") / "model.safetensors").read_bytes() == WEIGHTS


def test_a_full_disk(serve, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)
    with serve(), pytest.raises(UserError, match="could not be written .*No space left on device"):
        hub.fetch("them/model")


BIG = {"config.json": json.dumps(CONFIG).encode(), "model-00001-of-00002.safetensors": WEIGHTS,
       "model-00002-of-00002.safetensors": WEIGHTS, "onnx/model.safetensors": WEIGHTS}  # fmt: skip


@pytest.mark.parametrize("counted, numbers", [({}, len(WEIGHTS)), ({"them/model": 7_000_000_000}, 7_000_000_000)])
def test_a_models_size_is_told_before_its_weights_are_fetched(serve, counted, numbers):
    with serve(repos={"them/model": BIG}, counted=counted) as server:
        # The second time its config is here, which does not pass for a copy of the model.
        for _ in range(2):
            found = find_files("them/model", weights=False)
            assert found.parameters == numbers and found.config["hidden_size"] == 64
        assert server.asked == ["config.json"]
