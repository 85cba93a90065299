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
    headers = headers or [JSON]
    return {"type": "http", "method": method, "path": path, "query_string": query, "client": ("127.0.0.1", 9),
            "headers": [*headers]}  # fmt: skip


def ask(gate, path, content=b"", *, method="POST", headers=(), parts=1, query=b"", kind="application/json"):
    """(status, the answer's JSON) of one request, whose body comes in parts."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    own = [(b"content-type", kind.encode()), (b"content-length", str(len(content)).encode())]
    scope = head(method, path, [*own, *headers], query)
    step = -(-len(content) // parts) or 1
    pieces = [content[begin : begin + step] for begin in range(0, len(content), step)] or [b""]
    messages = [
        {"type": "http.request", "body": piece, "more_body": number < len(pieces)}
        for number, piece in enumerate(pieces, 1)
    ]

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    start, body = through(gate, receive, **scope)
    return start["status"], json.loads(body["body"])


def through(gate, receive, **scope):
    """What the gate sends for one request."""
    sent = []

    async def send(message):
        sent.append(message)

    in_a_loop(gate({"type": "http", "method": "POST", "path": "/gradio_api/queue/join", **scope}, receive, send))
    return sent


JOINED = {"fn_index": 4, "session_hash": "ann", "data": ["hello", 1]}
OTHER = JOINED | {"fn_index": 5}


@pytest.mark.parametrize(
    "path, content, named",
    [
        ("/gradio_api/call/v2/generate", {"prompt": "hello"}, {"prompt": "hello"}),
        ("/gradio_api/call/v2/generate/", {"prompt": "hello"}, {"prompt": "hello"}),
        ("/gradio_api/call/generate", {"data": ["hello", 1]}, {"prompt": "hello", "seed": 1}),
        ("/gradio_api/queue/join", JOINED, {"prompt": "hello", "seed": 1}),
    ],
)
def test_an_endpoints_arguments_are_seen_at_every_door_and_pass_unchanged(path, content, named):
    seen = []
    gate, app = make(seen=seen)
    status, _ = ask(gate, path, content, parts=3)
    assert status == 200 and seen[0][0] == named and json.loads(app.bodies[0]) == content
    assert app.scopes[0][IN_SCOPE] == seen[0][1] != set()


@pytest.mark.parametrize(
    "path, content",
    [
        ("/gradio_api/call/v2/generate", {"prompt": ""}),
        ("/gradio_api/call/generate", {"data": ["", 1]}),
        ("/gradio_api/queue/join", JOINED | {"data": ["", 1]}),
    ],
)
def test_what_can_be_refused_does_not_reach_gradio_and_is_told_as_its_clients_read_it(path, content):
    gate, app = make()
    status, told = ask(gate, path, content)
    assert status == 422 and not app.bodies and not gate.tracker.sessions
    (detail,) = told["detail"]
    assert detail["message"] == EMPTY and detail["__type__"] == "validate" and detail["is_valid"] is False


# Nested so deeply that Python cannot read it, and what it can just read.
NESTED = [b'{"data":' + b"[" * depth + b"]" * depth + b"}" for depth in (200_000, *range(900, 1000, 5))]


def test_what_is_no_call_does_not_reach_gradio():
    gate, app = make()
    for content in ({"data": "x"}, {}, [1], b"no json", b"", *NESTED):
        assert ask(gate, "/gradio_api/call/generate", content)[0] in (400, 422), content[:99]
        assert not app.bodies


@pytest.mark.parametrize("path", ["/gradio_api/queue/join", "/gradio_api/run/predict"])
def test_the_pages_own_functions_are_called_as_the_page_calls_them(path):
    gate, app = make()
    sent = OTHER | {"event_data": {"value": "Lab"}, "trigger_id": None}
    assert ask(gate, path, sent)[0] == 200 and json.loads(app.bodies[0]) == sent


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
    for path in ("/gradio_api/queue/join", "/gradio_api/run/predict"):
        assert ask(gate, path, OTHER | changes)[0] == 400
    assert not app.bodies and not gate.tracker.sessions


@pytest.mark.parametrize("path", ["queue/join", "call/v2/generate", "component_server", "cancel"])
@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded", ""]
)
def test_what_a_form_of_another_site_can_send_is_no_call(path, kind):
    gate, app = make()
    sent = {"queue/join": JOINED, "component_server": SERVER, "cancel": {}}.get(path, {"prompt": "hello"})
    assert ask(gate, f"/gradio_api/{path}", sent, kind=kind)[0] == 415 and not app.bodies
    assert ask(gate, f"/gradio_api/{path}", sent, kind="application/json; charset=utf-8")[0] == 200


@pytest.mark.parametrize("on_space", [False, True])
def test_on_ones_own_machine_no_page_of_another_site_calls(on_space):
    gate, _ = make(on_space=on_space)
    for headers, foreign in (
        ([(b"origin", b"http://elsewhere")], True), ([(b"sec-fetch-site", b"cross-site")], True),
        ([(b"origin", b"http://here:1")], False), ([], False),
    ):  # fmt: skip
        status = ask(gate, "/gradio_api/queue/join", OTHER, headers=headers)[0]
        assert status == (403 if foreign and not on_space else 200)


SERVER = {"component_id": 7, "fn_name": "one_file", "session_hash": "ann", "data": None}


@pytest.mark.parametrize(
    "changes, status",
    [
        ({}, 200), ({"component_id": 8}, 400), ({"component_id": "7"}, 400), ({"component_id": [7]}, 400),
        ({"fn_name": "__init__"}, 400), ({"fn_name": ["one_file"]}, 400), ({"session_hash": ""}, 400),
    ],
)  # fmt: skip
def test_a_component_is_asked_for_its_own_functions_alone(changes, status):
    gate, app = make()
    assert ask(gate, "/gradio_api/component_server", SERVER | changes)[0] == status
    assert len(app.bodies) == (status == 200)


def test_events_are_noted_under_their_session():
    gate, _ = make()
    ask(gate, "/gradio_api/queue/join", JOINED)
    ask(gate, "/gradio_api/call/v2/generate", {"prompt": "hello"})
    assert {key: list(each.events) for key, each in gate.tracker.sessions.items()} == {
        "ann": ["event1"],
        "event2": ["event2"],
    }


def test_who_listens_is_noted_while_the_stream_is_open():
    gate, app = make()
    listened = []

    async def stream(scope, receive, send):
        listened.append({key: each.listeners for key, each in gate.tracker.sessions.items()})
        await app(scope, receive, send)

    ask(gate, "/gradio_api/queue/join", JOINED)
    gate.app = stream
    ask(gate, "/gradio_api/queue/data", method="GET", query=b"session_hash=ann")
    ask(gate, "/gradio_api/call/generate/event1", method="GET")
    assert listened == [{"ann": 1}, {"ann": 1}] and gate.tracker.sessions["ann"].listeners == 0


@pytest.mark.parametrize(
    "path, query",
    [
        ("/gradio_api/queue/data", b"session_hash=nobody"), ("/gradio_api/queue/data", b"session_hash="),
        ("/gradio_api/queue/data", b""), ("/gradio_api/call/generate/nobody", b""), ("/gradio_api/call/v2/x/y", b""),
    ],
)  # fmt: skip
def test_a_stream_of_nobody_is_refused_shortly(path, query):
    gate, app = make()
    status, told = ask(gate, path, method="GET", query=query)
    assert status == 404 and "does not exist" in told["detail"] and not app.bodies and not gate.tracker.sessions


def test_a_run_counts_from_the_moment_it_is_let_in():
    gate, app = make()
    for _ in range(2):
        assert ask(gate, "/gradio_api/queue/join", JOINED)[0] == 200
    status, told = ask(gate, "/gradio_api/call/generate", {"data": ["hello", 1], "session_hash": "ann"})
    assert status == 422 and len(app.bodies) == 2
    assert "2 of your runs are already waiting" in told["detail"][0]["message"]
    assert ask(gate, "/gradio_api/queue/join", JOINED | {"session_hash": "bob"})[0] == 200


def test_a_client_asks_for_no_more_than_it_listens_to():
    gate, app = make()
    for _ in range(bounds.EVENTS_OF_SESSION):
        assert ask(gate, "/gradio_api/queue/join", OTHER)[0] == 200
    status, told = ask(gate, "/gradio_api/queue/join", OTHER)
    assert status == 429 and "Too many pending requests" in told["detail"]
    assert ask(gate, "/gradio_api/queue/join", OTHER | {"session_hash": "bob"})[0] == 200
    assert len(app.bodies) == bounds.EVENTS_OF_SESSION + 1


def test_an_address_asks_for_more_than_a_session_and_leaves_as_much_as_it_has():
    gate, _ = make(on_space=True)
    gate.limiters["call"] = gate.refusals = gate_module.RateLimiter(1000, 1000)

    def join(number, address):
        sent = OTHER | {"session_hash": f"visitor-{number}"}
        return ask(gate, "/gradio_api/queue/join", sent, headers=[(b"x-forwarded-for", address)])[0]

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


def test_a_request_of_too_many_bytes_is_refused_before_it_is_read():
    gate, app = make()

    async def never():
        pytest.fail("it was read")

    start, _ = through(gate, never, headers=[JSON, (b"content-length", str(bounds.BODY + 1).encode())])
    assert start["status"] == 413


def test_a_request_that_hides_its_length_is_read_as_far_as_is_allowed(monkeypatch):
    monkeypatch.setattr(bounds, "BODY", 1000)
    gate, app = make()
    parts = iter([{"type": "http.request", "body": b"x" * 600, "more_body": True}] * 2)

    async def receive():
        return next(parts)

    start, body = through(gate, receive, headers=[JSON])
    assert start["status"] == 413 and b"1,000 bytes" in body["body"] and not app.bodies


def test_only_a_few_long_requests_are_held_at_a_time_and_the_next_waits_for_a_while():
    gate, _ = make()
    held, most = 0, 0
    leave = asyncio.Event()
    content = json.dumps(JOINED | {"data": ["x" * bounds.SMALL_BODY, 1]}).encode()

    async def slow(scope, receive, send):
        nonlocal held, most
        held += 1
        most = max(most, held)
        await leave.wait()
        held -= 1

    async def receive():
        return {"type": "http.request", "body": content}

    async def send(message):
        answers.append(message)

    async def run():
        calls = [asyncio.create_task(gate(head("POST", "/gradio_api/queue/join"), receive, send)) for _ in range(2)]
        while held < 2:
            await asyncio.sleep(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bounds, "LARGE_WAIT", 0.05)
            await gate(head("POST", "/gradio_api/queue/join"), receive, send)
        third = asyncio.create_task(gate(head("POST", "/gradio_api/queue/join"), receive, send))
        leave.set()
        await asyncio.gather(*calls, third)

    gate.app, answers = slow, []
    gate.page.endpoints["generate"] = Endpoint(["prompt", "seed"], lambda sent, client: None)
    gate.session_runs = 9
    in_a_loop(run())
    assert most == bounds.LARGE_AT_ONCE and answers[0]["status"] == 503


def test_what_sends_nothing_holds_no_turn_of_large_requests(monkeypatch):
    monkeypatch.setattr(bounds, "READING", 0.3)
    gate, app = make()
    content = json.dumps(JOINED | {"data": ["x" * bounds.SMALL_BODY, 1]}).encode()

    async def never():
        await asyncio.Event().wait()

    async def whole():
        return {"type": "http.request", "body": content}

    async def send(message):
        pass

    async def run():
        silent = [asyncio.create_task(gate(head("POST", "/gradio_api/queue/join"), never, send)) for _ in range(9)]
        await asyncio.sleep(0)
        await gate(head("POST", "/gradio_api/queue/join"), whole, send)
        assert app.bodies == [content] and not any(each.done() for each in silent)
        await asyncio.gather(*silent)

    in_a_loop(run())


def test_a_request_that_does_not_arrive_is_given_up(monkeypatch):
    monkeypatch.setattr(bounds, "READING", 0.05)
    gate, app = make()

    async def never():
        await asyncio.Event().wait()

    start, _ = through(gate, never, headers=[JSON])
    assert start["status"] == 408 and not app.bodies


@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", "/monitoring"), ("GET", "/monitoring/summary"), ("GET", "/monitoring/key"),
        ("GET", "/gradio_api/deep_link"), ("GET", "/gradio_api/proxy=http://x"),
        ("GET", "/gradio_api/file=https://example.com/x"), ("POST", "/gradio_api/process_recording"),
        ("POST", "/gradio_api/vibe-edit/"), ("GET", "/gradio_api/vibe-code"), ("POST", "/gradio_api/stream/x"),
        ("POST", "/login"), ("POST", "/"), ("GET", "/gradio_api/run-history/buckets"), ("GET", "/gradio_api/runs"),
        ("GET", "/gradio_api/file=HTTPS://example.com/x"), ("GET", "/gradio_api/queue/status"), ("GET", "/docs"),
        ("PUT", "/gradio_api/queue/join"), ("OPTIONS", "/"), ("POST", "/gradio_api/api/predict"), ("GET", "/x"),
        ("GET", "/gradio_api/heartbeat/ann"), ("GET", "/\n"),
    ],
)  # fmt: skip
def test_what_the_page_does_not_need_is_closed(method, path):
    gate, app = make()
    assert ask(gate, path, method=method)[0] == 404 and not app.bodies


@pytest.mark.parametrize(
    "on_space, origin, status",
    [(True, None, 403), (False, None, 200), (False, b"http://here:1", 200), (False, b"http://elsewhere", 403)],
)
def test_files_are_taken_where_they_are_needed_and_from_no_other_site(on_space, origin, status):
    gate, app = make(on_space=on_space)
    headers = [(b"host", b"here:1")] + ([(b"origin", origin)] if origin else [])
    answer = ask(gate, "/gradio_api/upload", headers=headers)
    assert answer[0] == status and len(app.bodies) == (status == 200)
    assert status == 200 or answer[1]["detail"].endswith("uploaded here." if on_space else "pages of other sites.")
    assert ask(gate, "/gradio_api/upload_progress", method="GET")[0] == (404 if on_space else 200)


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
        assert ask(gate, "/gradio_api/call/v2/generate", {"prompt": ""})[0] == 422
    step = 1 / bounds.REFUSALS
    # Before each, its bytes and their end have had their turn.
    assert slept[2::3] == pytest.approx([0, step, 2 * step, 3 * step])
    gate.refusals.due[""] = 1e6
    assert ask(gate, "/gradio_api/call/v2/generate", {"prompt": ""})[0] == 422
    assert slept[-1] == gate.refusals.longest


@pytest.mark.parametrize(
    "method, path, content",
    [
        ("GET", "/", b""), ("GET", "/config", b""), ("GET", "/gradio_api/info", b""),
        ("GET", "/assets/x.js", b""), ("GET", "/recordings/0/x.json", b""), ("GET", "/gradio_api/file=/etc/x", b""),
        ("POST", "/gradio_api/cancel", {}), ("POST", "/gradio_api/run/predict", OTHER),
        ("POST", "/gradio_api/component_server", SERVER), ("POST", "/gradio_api/queue/join", OTHER),
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
    sent = [
        ask(gate, "/gradio_api/queue/join", b"x" * 1000, headers=[(b"x-forwarded-for", b"8.8.8.8")])[0] for _ in "abcd"
    ]
    assert sent == [400] * 4 and slept[::3] == pytest.approx([0, 0, 0, 0.5], abs=0.01)
    assert ask(gate, "/gradio_api/queue/join", b"x", headers=[(b"x-forwarded-for", b"1.1.1.1")])[0] == 400
    assert slept[-3] == 0
