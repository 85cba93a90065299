"""Fetching from a hub whose answers are made here."""

import hashlib
import json
import time
from types import SimpleNamespace
from unittest.mock import Mock

import httpx2
import pytest
from huggingface_hub import constants

from duoviz.decoding.forward import Stopped
from duoviz.errors import UserError
from duoviz.models import hub
from duoviz.models.files import find_files

COMMIT = {"X-Repo-Commit": "0123456789abcdef0123456789abcdef01234567"}
WEIGHTS = bytes(range(256)) * 400
CONFIG = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2}
OTHERS = {"config.json": json.dumps(CONFIG).encode(), "pytorch_model.bin": WEIGHTS, "onnx/model.safetensors": WEIGHTS}
MODEL = {"config.json": b"{}", "tokenizer.json": b"[]", "model.safetensors": WEIGHTS, "training.log": b"not wanted"}


class Hub:
    """The parts of the hub's API that a snapshot asks for.

    repos: files by model id. gated: ids that need a token. counted: how many numbers the hub says that a model has.
    away: whether it cannot be reached. cut: send only so many bytes of a large file, then close the connection.
    asked: the names of all files that were sent.
    """

    def __init__(self):
        self.repos, self.gated, self.counted = {"them/model": MODEL}, set(), {}
        self.away, self.cut, self.asked = False, None, []

    def answer(self, request):
        if self.away:
            raise httpx2.ConnectError("no route")
        path = request.url.path.strip("/").split("/")
        if path[:2] == ["api", "models"]:
            return self.about("/".join(path[2:4]), listed="tree" in path)
        content = self.repos["/".join(path[:2])][path[4]]
        headers = COMMIT | {"ETag": hashlib.sha256(content).hexdigest(), "Content-Length": str(len(content))}
        if request.method == "HEAD":
            return httpx2.Response(200, headers=headers)
        self.asked.append(path[4])
        return (
            httpx2.Response(503)
            if "Range" in request.headers
            else httpx2.Response(200, headers=headers, content=self.sent(content))
        )

    def sent(self, content):
        yield content[: self.cut]
        if self.cut is not None and len(content) > self.cut:
            raise httpx2.RemoteProtocolError("closed")

    def about(self, model, *, listed):
        """The model, or what lies in it."""
        if model not in self.repos or model in self.gated:
            status, code = (403, "GatedRepo") if model in self.gated else (404, "RepoNotFound")
            return httpx2.Response(status, json={}, headers={"X-Error-Code": code})
        sizes = {name: len(data) for name, data in self.repos[model].items()}
        if listed:
            files = [{"type": "file", "path": name, "size": size, "oid": name} for name, size in sizes.items()]
            return httpx2.Response(200, json=files)
        siblings = [{"rfilename": name, "size": size} for name, size in sizes.items()]
        content = {"id": model, "modelId": model, "sha": COMMIT["X-Repo-Commit"], "siblings": siblings}
        if model in self.counted:
            content["safetensors"] = {"parameters": {}, "total": self.counted[model]}
        return httpx2.Response(200, json=content)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A hub that huggingface_hub asks, with an empty cache."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    made = Hub()
    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", lambda _, request: made.answer(request))
    return made


def test_a_download_tells_how_far_it_is_and_serves_without_a_network(server):
    updates = []
    folder = hub.fetch("them/model", lambda *update: updates.append(update))
    assert {file.name for file in folder.iterdir()} == set(MODEL) - {"training.log"}
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert updates[-1] == (1.0, "Downloading them/model (0.1 of 0.1 MB)")
    assert all(0 < fraction <= 1 for fraction, _ in updates)
    server.asked.clear()
    for server.away in (False, True):
        assert hub.fetch("them/model", pytest.fail) == folder
    assert server.asked == []


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
def test_what_the_hub_does_not_give_or_tell(ask, state, sentence, server):
    vars(server).update(state)
    with pytest.raises(UserError, match=sentence):
        ask("them/model")
    assert "pytorch_model.bin" not in server.asked
    with pytest.raises(UserError, match="neither a folder nor a model"):
        ask("no such name!")


def test_no_network_and_no_copy(server, monkeypatch):
    server.away = True
    with pytest.raises(UserError, match="them/model is not on this machine, and the hub cannot be reached"):
        hub.fetch("them/model")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="HF_HUB_OFFLINE"):
        hub.fetch("them/model")


def test_a_download_that_breaks_off_leaves_nothing_half_done(server, monkeypatch):
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(**vars(time) | {"sleep": lambda _: None}))
    server.cut = 5000
    with pytest.raises(UserError, match="The download of them/model was interrupted"):
        hub.fetch("them/model")
    server.cut = None
    with pytest.raises(Stopped):
        hub.fetch("them/model", Mock(side_effect=Stopped))
    full = Mock(side_effect=OSError(28, "No space left on device"))
    with monkeypatch.context() as patched, pytest.raises(UserError, match="not be written .*No space left on device"):
        patched.setattr("huggingface_hub.file_download.http_get", full)
        hub.fetch("them/model")
    assert (hub.fetch("them/model") / "model.safetensors").read_bytes() == WEIGHTS


BIG = {"config.json": json.dumps(CONFIG).encode(), "model-00001-of-00002.safetensors": WEIGHTS,
       "model-00002-of-00002.safetensors": WEIGHTS, "onnx/model.safetensors": WEIGHTS}  # fmt: skip


@pytest.mark.parametrize("counted, numbers", [({}, len(WEIGHTS)), ({"them/model": 7_000_000_000}, 7_000_000_000)])
def test_a_models_size_is_told_before_its_weights_are_fetched(server, counted, numbers):
    server.repos, server.counted = {"them/model": BIG}, counted
    # The second time its config is here, which does not pass for a copy of the model.
    for _ in range(2):
        found = find_files("them/model", weights=False)
        assert found.parameters == numbers and found.config["hidden_size"] == 64
    assert server.asked == ["config.json"]
