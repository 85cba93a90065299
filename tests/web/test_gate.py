"""What is refused before Gradio sees it, what is let through as it came, and who listens to what was asked for."""

import asyncio
import json
from itertools import count, takewhile

import pytest

from duoviz.web import bounds
from duoviz.web.bounds import LISTENER, RateLimiter
from duoviz.web.gate import Event, SessionTracker
from duoviz.web.heads import IN_SCOPE, Client
from tests.web.gated import EMPTY, HOST, JOIN, JOINED, JSON, LISTED, OTHER, RUN, V2, ask, head, make, through


async def never():
    await asyncio.Event().wait()


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
    assert seen[-1] == {"prompt": "hello", "seed": 1} and app.scopes[0][IN_SCOPE].address is None


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
    for path, sent in ((JOIN, JOINED), (V2, {"prompt": "hello"}), ("/gradio_api/cancel", {})):
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


def test_what_is_let_in_while_a_call_waits_for_its_turn_counts():
    gate, app = make()

    async def meanwhile(kind, scope, cost=1):
        if kind == "call":
            for number in range(bounds.EVENTS_OF_SESSION):
                gate.tracker.opened("ann", str(number), Event(Client("ann")))

    gate.in_turn = meanwhile
    assert ask(gate, JOIN, JOINED)[0] == 429 and not app.bodies


def test_a_client_asks_for_no_more_than_it_listens_to():
    gate, _ = make()
    statuses = [ask(gate, JOIN, OTHER) for _ in range(bounds.EVENTS_OF_SESSION + 1)]
    assert [status for status, _ in statuses] == [*[200] * bounds.EVENTS_OF_SESSION, 429]
    assert "Too many pending requests" in statuses[-1][1]["detail"]
    assert ask(gate, JOIN, OTHER | {"session_hash": "bob"})[0] == 200


def test_an_address_asks_for_more_than_a_session_and_leaves_as_much_as_it_has():
    gate, _ = make(on_space=True)
    gate.limiters["call"] = gate.refusals = RateLimiter(1000, 1000)

    def join(number, address):
        sent = OTHER | {"session_hash": f"visitor-{number}"}
        return ask(gate, JOIN, sent, headers=[(b"x-forwarded-for", address)])[0]

    numbers = count()
    addresses = (b"8.8.8.8", b"1.1.1.1", b"9.9.9.9", b"1.0.0.1")
    found = [sum(1 for _ in takewhile(lambda _: join(next(numbers), each) == 200, range(200))) for each in addresses]
    assert found == [56, 28, 14, 7]


def test_an_address_has_so_many_requests_under_way():
    gate, app = make()
    seen = []

    async def look(scope, receive, send):
        seen.append(dict(gate.under_way))
        await app(scope, receive, send)

    gate.app = look
    assert ask(gate, "/config", method="GET")[0] == 200 and seen == [{"127.0.0.1": 1}] and not gate.under_way
    gate.under_way["127.0.0.1"] = bounds.REQUESTS_OF_ADDRESS
    assert ask(gate, "/config", method="GET")[0] == 429 and len(seen) == 1


def test_a_request_of_too_many_bytes_is_read_as_far_as_is_allowed():
    gate, app = make()
    start, _ = through(gate, never, headers=[HOST, JSON, (b"content-length", str(bounds.BODY + 1).encode())])
    assert start["status"] == 413
    parts = iter([{"type": "http.request", "body": b"x" * (bounds.BODY // 2 + 1), "more_body": True}] * 2)

    async def receive():
        return next(parts)

    start, body = through(gate, receive)
    assert start["status"] == 413 and b"2,500,000 bytes" in body["body"] and not app.bodies


CLOSED = {
    "GET": (
        "/monitoring", "/monitoring/summary", "/gradio_api/deep_link", "/gradio_api/proxy=http://x", "/x", "/docs",
        "/gradio_api/file=https://example.com/x", "/gradio_api/file=HTTPS://example.com/x", "/gradio_api/vibe-code",
        "/gradio_api/run-history/buckets", "/gradio_api/queue/status", "/gradio_api/heartbeat/ann", "/\n",
    ),
    "POST": (
        "/gradio_api/process_recording", "/gradio_api/vibe-edit/", "/gradio_api/stream/x", "/login", "/",
        "/gradio_api/api/predict", "/gradio_api/component_server",
    ),
    "PUT": (JOIN,),
    "OPTIONS": ("/",),
}  # fmt: skip


@pytest.mark.parametrize("root", ["/school/demo", "https://a.test/school/demo"])
def test_without_its_last_slash_the_page_says_where_it_is_from_there(root):
    gate, app = make()
    start, _ = through(gate, never, **head("GET", "/school/demo", query=b"tab=lab"), root_path=root)
    assert start["status"] == 307 and (b"location", b"demo/?tab=lab") in start["headers"] and not app.bodies


def test_gradio_says_which_other_sites_may_call():
    gate, _ = make(on_space=True)
    assert ask(gate, JOIN, method="OPTIONS", headers=[(b"access-control-request-method", b"POST")])[0] == 200


def test_a_websocket_is_closed():
    gate, _ = make()
    assert through(gate, never, type="websocket") == [{"type": "websocket.close"}]


def test_what_the_page_does_not_need_is_closed():
    gate, app = make()
    for method, paths in CLOSED.items():
        assert {path: ask(gate, path, method=method)[0] for path in paths} == dict.fromkeys(paths, 404)
    assert not app.bodies


class Tracked:
    """A tracker whose time a test moves on, with one event of one session. done: the events that were delivered."""

    def __init__(self):
        self.now, self.done, self.event = 1000.0, set(), Event(Client("ann"))
        self.tracker = SessionTracker(lambda session, event: event in self.done, lambda: self.now)
        self.tracker.opened("ann", "one", self.event)

    def unheard(self, seconds):
        """What is given up after so many seconds more."""
        self.now += seconds
        return self.tracker.unheard()


def test_who_listens_is_left_alone_and_who_stops_is_waited_for():
    tracked = Tracked()
    tracker = tracked.tracker
    assert tracker.of("ann") is tracker.of("one") is not None and tracker.of("two") is tracker.of("") is None
    for name in ("ann", "one"):
        with tracker.listening(tracker.of(name)):
            assert tracked.unheard(10 * LISTENER) == []
        assert tracked.unheard(LISTENER - 1) == []
    assert [tracked.unheard(seconds) for seconds in (2, 0)] == [["ann"], []]


def test_what_was_asked_for_counts_until_it_is_delivered():
    tracked, other = Tracked(), Event(Client("bob"))
    tracked.tracker.opened("bob", "two", other)
    assert tracked.tracker.undelivered() == [tracked.event, other]
    tracked.done.add("one")
    assert tracked.tracker.undelivered() == [other]


def test_a_run_waits_until_its_session_is_listened_to():
    tracked, second = Tracked(), Event(Client("ann"))
    assert not tracked.event.heard.is_set()
    with tracked.tracker.listening(tracked.tracker.of("ann")):
        tracked.tracker.opened("ann", "two", second)
        assert tracked.event.heard.is_set() and second.heard.is_set()
