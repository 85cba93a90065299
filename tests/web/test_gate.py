"""What is refused before Gradio sees it, and what is let through as it came."""

import asyncio
import json
from itertools import count, takewhile
from types import SimpleNamespace

import gradio as gr
import pytest

from duoviz.web import bounds
from duoviz.web import gate as gate_module
from duoviz.web.calls import Endpoint, page_of
from duoviz.web.clients import IN_SCOPE
from duoviz.web.gate import Gate
from duoviz.web.limits import Limits
from duoviz.web.session_tracker import SessionTracker
from duoviz.workers.request_queue import Bounds
from tests.web.visits import in_a_loop

JOIN, RUN, V2, LISTED = (
    f"/gradio_api/{path}" for path in ("queue/join", "run/predict", "call/v2/generate", "call/generate")
)
EMPTY = "The prompt is empty."
JSON = (b"content-type", b"application/json")


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


def one_file(asked):
    """A component's own function."""


def make(*, on_space=False, seen=None):
    def refusal(sent, client):
        if seen is not None:
            seen.append((sent, client))
        return EMPTY if not sent["prompt"] else None

    app = Gradio()
    tracker = SessionTracker(lambda session, event: False)
    endpoints = {"generate": Endpoint(["prompt", "seed"], refusal)}
    prompt, seed = gr.Textbox(max_lines=3, render=False), gr.Number(render=False)
    own = {1: [seed, seed], 4: [prompt, seed], 5: [prompt, seed], 6: [seed, gr.Radio(["a", "b"], render=False)]}
    fns = {
        number: SimpleNamespace(
            fn=print, _id=number, inputs=inputs, preprocess=True, api_name="generate" if number == 4 else f"f{number}"
        )
        for number, inputs in own.items()
    }
    component = SimpleNamespace(server_fns=[one_file])
    page = page_of(SimpleNamespace(fns=fns, blocks={7: component, 8: object()}), endpoints)
    limits = Limits(on_space=on_space, bounds=Bounds(session=2))
    gate = Gate(app, page=page, tracker=tracker, hosts={"here"}, limits=limits)
    return gate, app


def head(method, path, headers=(), query=b""):
    """What the gate is given first."""
    return {"type": "http", "method": method, "path": path, "query_string": query, "client": ("127.0.0.1", 9),
            "headers": [*headers] or [JSON]}  # fmt: skip


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


async def never():
    await asyncio.Event().wait()


ASKED = "/gradio_api/component_server"
JOINED = {"fn_index": 4, "session_hash": "ann", "data": ["hello", 1]}
OTHER = JOINED | {"fn_index": 5}


@pytest.mark.parametrize(
    "path, content, wrong",
    [
        (V2, {"prompt": "hello", "seed": 1}, {"prompt": ""}),
        (f"{V2}/", {"prompt": "hello", "seed": 1}, {"prompt": ""}),
        (LISTED, {"data": ["hello", 1]}, {"data": ["", 1]}),
        (JOIN, JOINED, JOINED | {"data": ["", 1]}),
    ],
)
def test_an_endpoints_arguments_are_seen_at_every_door_and_pass_unchanged_or_are_refused(path, content, wrong):
    seen = []
    gate, app = make(seen=seen)
    status, told = ask(gate, path, wrong)
    assert status == 422 and not app.bodies and not gate.tracker.sessions
    # As Gradio's clients read it.
    (detail,) = told["detail"]
    assert detail["message"] == EMPTY and detail["__type__"] == "validate" and detail["is_valid"] is False
    assert ask(gate, path, content, parts=3)[0] == 200 and json.loads(app.bodies[0]) == content
    sent, client = seen[-1]
    assert sent == {"prompt": "hello", "seed": 1} and app.scopes[0][IN_SCOPE] == client != set()


@pytest.mark.parametrize(
    "changes",
    [
        # Some are equal to 1 or 5, and some Gradio takes for 5.
        *({"fn_index": number} for number in ("5", "05", 5.0, True, [5], None, 6, -1, 10**400)),
        {"session_hash": ""}, {"session_hash": None}, {"session_hash": 5}, {"session_hash": ["ann"]},
        {"session_hash": "x" * 101}, {"session_hash": "a b"}, {"session_hash": "ann\n"}, {"session_hash": "\u0661"},
        {"data": ["hello"]}, {"data": {}}, {"data": None},
        {"simple_format": True}, {"batched": True}, {"event_id": "x"}, {"trigger_id": "12"},
    ],
)  # fmt: skip
def test_a_call_that_the_page_does_not_make_reaches_nothing(changes):
    gate, app = make()
    right = OTHER | {"event_data": {"value": "Lab"}, "trigger_id": None}
    for path in (JOIN, RUN):
        assert ask(gate, path, right | changes)[0] == 400 and not app.bodies
        assert ask(gate, path, right)[0] == 200 and json.loads(app.bodies.pop()) == right


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=b", ""])
def test_what_a_form_of_another_site_can_send_is_no_call(kind):
    gate, app = make()
    for path, sent in ((JOIN, JOINED), (V2, {"prompt": "hello"}), (ASKED, SERVER), ("/gradio_api/cancel", {})):
        assert ask(gate, path, sent, kind=kind)[0] == 415 and not app.bodies
        assert ask(gate, path, sent, kind="application/json; charset=utf-8")[0] == 200 and app.bodies.pop()


@pytest.mark.parametrize("on_space", [False, True])
def test_on_ones_own_machine_no_page_of_another_site_calls_and_on_a_space_nobody_uploads(on_space):
    gate, _ = make(on_space=on_space)
    for headers, foreign in (
        ([(b"origin", b"http://elsewhere")], True), ([(b"sec-fetch-site", b"cross-site")], True),
        ([(b"origin", b"http://here:1")], False), ([], False),
    ):  # fmt: skip
        assert ask(gate, JOIN, OTHER, headers=headers)[0] == (403 if foreign and not on_space else 200)
        assert ask(gate, "/gradio_api/upload", headers=headers)[0] == (403 if foreign or on_space else 200)
    assert ask(gate, "/gradio_api/upload_progress", method="GET")[0] == (404 if on_space else 200)


SERVER = {"component_id": 7, "fn_name": "one_file", "session_hash": "ann", "data": None}


def test_a_component_is_asked_for_its_own_functions_alone():
    gate, app = make()
    assert ask(gate, ASKED, SERVER)[0] == 200 and app.bodies.pop()
    for changes in (
        {"component_id": 8}, {"component_id": "7"}, {"component_id": [7]}, {"fn_name": "__init__"},
        {"fn_name": ["one_file"]}, {"session_hash": ""},
    ):  # fmt: skip
        assert ask(gate, ASKED, SERVER | changes)[0] == 400 and not app.bodies


def test_events_are_noted_under_their_session_and_who_listens_while_the_stream_is_open():
    gate, app = make()
    ask(gate, JOIN, JOINED)
    ask(gate, V2, {"prompt": "hello"})
    sessions = gate.tracker.sessions
    assert {key: list(each.events) for key, each in sessions.items()} == {"ann": ["event1"], "event2": ["event2"]}
    listened = []

    async def stream(scope, receive, send):
        listened.append(sessions["ann"].listeners)
        await app(scope, receive, send)

    gate.app = stream
    ask(gate, "/gradio_api/queue/data", method="GET", query=b"session_hash=ann")
    ask(gate, "/gradio_api/call/generate/event1", method="GET")
    assert listened == [1, 1] and sessions["ann"].listeners == 0


def test_a_stream_of_nobody_is_refused_shortly():
    gate, app = make()
    for path in ("queue/data?session_hash=nobody", "queue/data?session_hash=", "queue/data", "call/generate/nobody"):
        path, _, query = path.partition("?")
        status, told = ask(gate, f"/gradio_api/{path}", method="GET", query=query.encode())
        assert status == 404 and "does not exist" in told["detail"] and not app.bodies and not gate.tracker.sessions


def test_a_run_counts_from_the_moment_it_is_let_in():
    gate, app = make()
    for _ in range(2):
        assert ask(gate, JOIN, JOINED)[0] == 200
    status, told = ask(gate, LISTED, {"data": ["hello", 1], "session_hash": "ann"})
    assert status == 422 and len(app.bodies) == 2
    assert "2 of your runs are already waiting" in told["detail"][0]["message"]
    assert ask(gate, JOIN, JOINED | {"session_hash": "bob"})[0] == 200


def test_a_client_asks_for_no_more_than_it_listens_to():
    gate, _ = make()
    statuses = [ask(gate, JOIN, OTHER) for _ in range(bounds.EVENTS_OF_SESSION + 1)]
    assert [status for status, _ in statuses] == [*[200] * bounds.EVENTS_OF_SESSION, 429]
    assert "Too many pending requests" in statuses[-1][1]["detail"]
    assert ask(gate, JOIN, OTHER | {"session_hash": "bob"})[0] == 200


def test_an_address_asks_for_more_than_a_session_and_leaves_as_much_as_it_has():
    gate, _ = make(on_space=True)
    gate.limiters["call"] = gate.refusals = gate_module.RateLimiter(1000, 1000)

    def join(number, address):
        sent = OTHER | {"session_hash": f"visitor-{number}"}
        return ask(gate, JOIN, sent, headers=[(b"x-forwarded-for", address)])[0]

    numbers = count()
    addresses = (b"8.8.8.8", b"1.1.1.1", b"9.9.9.9", b"1.0.0.1")
    found = [sum(1 for _ in takewhile(lambda _: join(next(numbers), each) == 200, range(200))) for each in addresses]
    assert found == [56, 28, 14, 7]


def test_an_address_has_so_many_requests_under_way(monkeypatch):
    monkeypatch.setattr(bounds, "REQUESTS_OF_ADDRESS", 3)
    gate, app = make()

    async def run():
        leave, statuses = asyncio.Event(), []

        async def slow(scope, receive, send):
            await leave.wait()

        async def send(message):
            statuses.append(message.get("status"))

        gate.app = slow
        calls = [asyncio.create_task(gate(head("GET", "/config"), None, send)) for _ in range(3)]
        await asyncio.sleep(0)
        await gate(head("GET", "/config"), None, send)
        leave.set()
        await asyncio.gather(*calls)
        return statuses

    assert in_a_loop(run())[0] == 429 and not gate.under_way
    gate.app = app
    assert ask(gate, "/config", method="GET")[0] == 200


def test_a_request_of_too_many_bytes_is_read_as_far_as_is_allowed():
    gate, app = make()
    start, _ = through(gate, never, headers=[JSON, (b"content-length", str(bounds.BODY + 1).encode())])
    assert start["status"] == 413
    parts = iter([{"type": "http.request", "body": b"x" * (bounds.BODY // 2 + 1), "more_body": True}] * 2)

    async def receive():
        return next(parts)

    start, body = through(gate, receive)
    assert start["status"] == 413 and b"2,500,000 bytes" in body["body"] and not app.bodies


def test_only_a_few_long_requests_are_held_at_a_time_and_the_next_waits_for_a_while(monkeypatch):
    gate, _ = make()
    monkeypatch.setattr(bounds, "LARGE_WAIT", 0.05)
    content = json.dumps(JOINED | {"data": ["x" * bounds.SMALL_BODY, 1]}).encode()
    held, answers = [], []

    async def receive():
        return {"type": "http.request", "body": content}

    async def send(message):
        answers.append(message)

    async def run():
        leave = asyncio.Event()

        async def slow(scope, receive, send):
            held.append(scope)
            await leave.wait()

        def post(receive):
            return asyncio.create_task(gate(head("POST", JOIN), receive, send))

        gate.app = slow
        # What sends nothing holds no turn.
        silent = [post(never) for _ in range(5)]
        calls = [post(receive) for _ in range(bounds.LARGE_AT_ONCE)]
        while len(held) < bounds.LARGE_AT_ONCE:
            await asyncio.sleep(0)
        await post(receive)
        assert answers[0]["status"] == 503 and len(held) == bounds.LARGE_AT_ONCE
        leave.set()
        await asyncio.gather(*calls, post(receive))
        for each in silent:
            each.cancel()

    gate.session_runs = 9
    in_a_loop(run())
    assert len(held) == bounds.LARGE_AT_ONCE + 1


CLOSED = {
    "GET": (
        "/monitoring", "/monitoring/summary", "/gradio_api/deep_link", "/gradio_api/proxy=http://x", "/x", "/docs",
        "/gradio_api/file=https://example.com/x", "/gradio_api/file=HTTPS://example.com/x", "/gradio_api/vibe-code",
        "/gradio_api/run-history/buckets", "/gradio_api/queue/status", "/gradio_api/heartbeat/ann", "/\n",
    ),
    "POST": (
        "/gradio_api/process_recording", "/gradio_api/vibe-edit/", "/gradio_api/stream/x", "/login", "/",
        "/gradio_api/api/predict",
    ),
    "PUT": (JOIN,),
    "OPTIONS": ("/",),
}  # fmt: skip


def test_what_the_page_does_not_need_is_closed():
    gate, app = make()
    for method, paths in CLOSED.items():
        assert {path: ask(gate, path, method=method)[0] for path in paths} == dict.fromkeys(paths, 404)
    assert not app.bodies


@pytest.fixture
def slept(monkeypatch):
    """The delays that the gate waits; time stands still."""
    delays = []

    async def sleep(seconds):
        delays.append(seconds)

    # Of the gate alone: servers run in this process whose time goes on.
    monkeypatch.setattr(gate_module, "time", SimpleNamespace(monotonic=lambda: 50.0))
    monkeypatch.setattr(gate_module, "asyncio", SimpleNamespace(**vars(asyncio) | {"sleep": sleep}))
    return delays


def test_refusals_leave_one_after_another(slept):
    gate, _ = make()
    for _ in range(4):
        assert ask(gate, V2, {"prompt": ""})[0] == 422
    step = 1 / bounds.REFUSALS
    # Before each, its bytes and their end have had their turn.
    assert slept[2::3] == pytest.approx([0, step, 2 * step, 3 * step])
    gate.refusals.due[""] = 1e6
    assert ask(gate, V2, {"prompt": ""})[0] == 422
    assert slept[-1] == gate.refusals.longest


@pytest.mark.parametrize(
    "method, path, content",
    [
        ("GET", "/", b""), ("GET", "/config", b""), ("GET", "/gradio_api/info", b""),
        ("GET", "/assets/x.js", b""), ("GET", "/recordings/0/x.json", b""), ("GET", "/gradio_api/file=/etc/x", b""),
        ("POST", "/gradio_api/cancel", {}), ("POST", RUN, OTHER),
        ("POST", ASKED, SERVER), ("POST", JOIN, OTHER),
    ],
)  # fmt: skip
def test_what_is_let_through_is_done_for_an_address_in_its_turn(slept, method, path, content):
    gate, app = make(on_space=True)
    gate.limiters |= {kind: gate_module.RateLimiter(4, 2, longest=0.6) for kind in gate.limiters if kind != "byte"}
    headers = [(b"x-forwarded-for", b"8.8.8.8")]
    statuses = [ask(gate, path, content, method=method, headers=headers)[0] for _ in range(5)]
    assert statuses == [200, 200, 200, 200, 429] and len(app.bodies) == 4
    turns = slept[2::3] if method == "POST" else slept
    assert turns[:4] == pytest.approx([0, 0, 0.25, 0.5])
    assert ask(gate, path, content, method=method, headers=[(b"x-forwarded-for", b"1.1.1.1")])[0] == 200
    assert slept[-1] == 0


def test_what_an_address_sends_is_read_at_a_steady_rate_and_what_it_may_not_send_too(slept):
    gate, _ = make(on_space=True)
    gate.limiters["byte"] = gate_module.RateLimiter(1000, 2500)
    sent = [ask(gate, JOIN, b"x" * 1000, headers=[(b"x-forwarded-for", b"8.8.8.8")])[0] for _ in "abcd"]
    assert sent == [400] * 4 and slept[::3] == pytest.approx([0, 0, 0, 0.5], abs=0.01)
    assert ask(gate, JOIN, b"x", headers=[(b"x-forwarded-for", b"1.1.1.1")])[0] == 400
    assert slept[-3] == 0
