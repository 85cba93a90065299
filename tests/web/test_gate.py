"""What is refused before Gradio sees it, what is let through as it came, and who listens to what was asked for."""

import json
from itertools import count, takewhile

import pytest

from duoviz.web import bounds
from duoviz.web.bounds import LISTENER, RateLimiter
from duoviz.web.gate import Event, SessionTracker
from duoviz.web.heads import IN_SCOPE, Client
from tests.web.gated import EMPTY, JOIN, JOINED, LISTED, OTHER, RUN, V2, answer_of, ask, make
from tests.web.visits import in_a_loop

STREAM = "/gradio_api/queue/data"


async def in_parts(*parts):
    for part in parts:
        yield part


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
    sent = json.dumps(content).encode()
    assert ask(gate, path, in_parts(sent[:9], sent[9:]))[0] == 200 and app.bodies == [sent]
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
        assert ask(gate, path, sent, content_type=kind)[0] == 415 and not app.bodies
        assert ask(gate, path, sent, content_type="application/json; charset=utf-8")[0] == 200 and app.bodies.pop()


@pytest.mark.parametrize("on_space", [False, True])
def test_on_ones_own_machine_no_page_of_another_site_calls_and_on_a_space_nobody_uploads(on_space):
    gate, _ = make(on_space=on_space)
    ours, others = ({}, {"origin": "http://here:1"}), ({"origin": "http://elsewhere"}, {"sec_fetch_site": "cross-site"})
    for headers in (*ours, *others):
        foreign = headers in others
        assert ask(gate, JOIN, OTHER, **headers)[0] == (403 if foreign and not on_space else 200)
        assert ask(gate, "/gradio_api/upload", **headers)[0] == (403 if foreign or on_space else 200)
    assert ask(gate, "/gradio_api/upload_progress", method="GET")[0] == (404 if on_space else 200)
    # Gradio says which other sites may call.
    assert ask(gate, JOIN, method="OPTIONS", access_control_request_method="POST")[0] == 200


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
    ask(gate, f"{STREAM}?session_hash=ann", method="GET")
    ask(gate, "/gradio_api/call/generate/event1", method="GET")
    assert listened == [1, 1] and sessions["ann"].listeners == 0


@pytest.mark.parametrize("path", [f"{STREAM}?session_hash=nobody", f"{STREAM}?session_hash=", STREAM, f"{LISTED}/none"])
def test_a_stream_of_nobody_is_refused_shortly(path):
    gate, app = make()
    status, told = ask(gate, path, method="GET")
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
    numbers = count()

    def is_let_in(address):
        return ask(gate, JOIN, OTHER | {"session_hash": f"visitor-{next(numbers)}"}, x_forwarded_for=address)[0] == 200

    addresses = ("8.8.8.8", "1.1.1.1", "9.9.9.9", "1.0.0.1")
    found = [sum(1 for _ in takewhile(lambda _: is_let_in(each), range(200))) for each in addresses]
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
    read = []

    async def endless():
        while True:
            read.append(bounds.BODY // 2 + 1)
            yield b"x" * read[-1]

    assert ask(gate, JOIN, endless(), content_length=str(bounds.BODY + 1))[0] == 413 and not read
    status, told = ask(gate, JOIN, endless())
    assert status == 413 and "2,500,000 bytes" in told["detail"] and len(read) == 2 and not app.bodies


CLOSED = {
    "GET": (
        "/monitoring", "/monitoring/summary", "/gradio_api/deep_link", "/gradio_api/proxy=http://x", "/x", "/docs",
        "/gradio_api/file=https://example.com/x", "/gradio_api/file=HTTPS://example.com/x", "/gradio_api/vibe-code",
        "/gradio_api/run-history/buckets", "/gradio_api/queue/status", "/gradio_api/heartbeat/ann", "/%0A",
    ),
    "POST": (
        "/gradio_api/process_recording", "/gradio_api/vibe-edit/", "/gradio_api/stream/x", "/login", "/",
        "/gradio_api/api/predict", "/gradio_api/component_server",
    ),
    "PUT": (JOIN,),
    "OPTIONS": ("/",),
}  # fmt: skip


def test_what_the_page_does_not_need_is_closed():
    gate, app = make()
    for method, paths in CLOSED.items():
        assert {ask(gate, path, method=method)[0] for path in paths} == {404}, method
    sent = []

    async def send(message):
        sent.append(message)

    in_a_loop(gate({"type": "websocket"}, None, send))
    assert sent == [{"type": "websocket.close"}] and not app.bodies


@pytest.mark.parametrize("root", ["/school/demo", "https://a.test/school/demo"])
def test_without_its_last_slash_the_page_says_where_it_is_from_there(root):
    gate, app = make()
    answer = answer_of(gate, "/school/demo?tab=lab", method="GET", root=root)
    assert answer.status_code == 307 and answer.headers["location"] == "demo/?tab=lab" and not app.bodies


def test_a_session_is_kept_while_somebody_listens_and_a_little_longer():
    now, ended = [1000.0], set()
    tracker = SessionTracker(lambda session, event: event in ended, lambda: now[0])
    one, two, others = Event(Client("ann")), Event(Client("ann")), Event(Client("bob"))

    def unheard(seconds):
        """What is given up after so many seconds more."""
        now[0] += seconds
        return tracker.unheard()

    tracker.opened("ann", "one", one)
    assert tracker.of("ann") is tracker.of("one") is not None and tracker.of("two") is tracker.of("") is None
    # A run waits for this.
    assert not one.heard.is_set()
    for name in ("ann", "one"):
        with tracker.listening(tracker.of(name)):
            tracker.opened("ann", "two", two)
            assert one.heard.is_set() and two.heard.is_set() and unheard(10 * LISTENER) == []
        assert unheard(LISTENER - 1) == []
    tracker.opened("bob", "others", others)
    assert tracker.undelivered() == [one, two, others]
    ended.add("one")
    assert tracker.undelivered() == [two, others]
    assert [unheard(seconds) for seconds in (2, LISTENER)] == [["ann"], ["bob"]] and not tracker.sessions
