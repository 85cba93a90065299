"""A gate before an application that notes what reaches it, and requests for it."""

import json
from types import SimpleNamespace

import gradio as gr
import httpx

from duoviz.errors import UserError
from duoviz.web.calls import Endpoint, page_of
from duoviz.web.gate import Gate, SessionTracker
from tests.web.visits import in_a_loop

JOIN, RUN, V2, LISTED = (
    f"/gradio_api/{path}" for path in ("queue/join", "run/predict", "call/v2/generate", "call/generate")
)
EMPTY = "The prompt is empty."
JOINED = {"fn_index": 4, "session_hash": "ann", "data": ["hello", 1]}
OTHER = JOINED | {"fn_index": 5}


class Gradio:
    """An application that answers every request with an event, and keeps what it was sent."""

    def __init__(self):
        self.bodies, self.scopes = [], []

    async def __call__(self, scope, receive, send):
        message = await receive()
        self.bodies.append(message["body"])
        self.scopes.append(scope)
        content = json.dumps({"event_id": f"event{len(self.bodies)}"}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": content})


def make(*, on_space=False, seen=None):
    """A gate before `Gradio`: function 4 is an endpoint."""

    def check(sent):
        if seen is not None:
            seen.append(sent)
        if not sent["prompt"]:
            raise UserError(EMPTY)

    app = Gradio()
    prompt, seed, radio = gr.Textbox(max_lines=3, render=False), gr.Number(render=False), gr.Radio(["a"], render=False)
    fns = {
        number: SimpleNamespace(fn=print, _id=number, inputs=inputs, preprocess=True, api_name=name)
        for number, name, inputs in (
            (1, "one", [seed, seed]), (4, "generate", [prompt, seed]), (5, "five", [prompt, seed]),
            (6, "six", [seed, radio]),
        )
    }  # fmt: skip
    page = page_of(SimpleNamespace(fns=fns), {"generate": Endpoint(["prompt", "seed"], check)})
    tracker = SessionTracker(lambda *_: False)
    return Gate(app, page=page, tracker=tracker, hosts={"here"}, on_space=on_space), app


def answer_of(gate, path, content=b"", *, method="POST", root="", **headers) -> httpx.Response:
    """What the gate answers to one request. content: bytes, their parts, or what goes as JSON."""
    parts = content if isinstance(content, bytes) or hasattr(content, "__aiter__") else json.dumps(content).encode()
    headers = {"content_type": "application/json"} | headers
    headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def asked():
        transport = httpx.ASGITransport(gate, client=("127.0.0.1", 9), root_path=root)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.request(method, path, content=parts, headers=headers)

    return in_a_loop(asked())


def ask(gate, path, content=b"", **options):
    """(status, the answer's JSON) of one request."""
    answer = answer_of(gate, path, content, **options)
    return answer.status_code, answer.json()
