"""A gate before an application that notes what reaches it, and requests for it."""

import json
from types import SimpleNamespace

import gradio as gr

from duoviz.errors import UserError
from duoviz.web.calls import Endpoint, page_of
from duoviz.web.gate import Gate, SessionTracker
from tests.web.visits import in_a_loop

JOIN, RUN, V2, LISTED = (
    f"/gradio_api/{path}" for path in ("queue/join", "run/predict", "call/v2/generate", "call/generate")
)
EMPTY = "The prompt is empty."
HOST, JSON = (b"host", b"here"), (b"content-type", b"application/json")
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


def head(method, path, headers=(), query=b""):
    """What the gate is given first."""
    return {"type": "http", "method": method, "path": path, "query_string": query, "client": ("127.0.0.1", 9),
            "headers": [HOST, *(headers or [JSON])]}  # fmt: skip


def ask(gate, path, content=b"", *, method="POST", headers=(), query=b"", kind="application/json", parts=1):
    """(status, the answer's JSON) of one request, whose body comes in so many parts."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    own = [(b"content-type", kind.encode()), (b"content-length", str(len(content)).encode())]
    step = -(-len(content) // parts) or 1
    pieces = [content[begin : begin + step] for begin in range(0, len(content), step)] or [b""]
    messages = iter([{"type": "http.request", "body": piece, "more_body": piece is not pieces[-1]} for piece in pieces])

    async def receive():
        return next(messages, {"type": "http.disconnect"})

    start, body = through(gate, receive, **head(method, path, [*own, *headers], query))
    return start["status"], json.loads(body["body"])


def through(gate, receive, **scope):
    """What the gate sends for one request."""
    sent = []

    async def send(message):
        sent.append(message)

    in_a_loop(gate(head("POST", JOIN) | scope, receive, send))
    return sent
