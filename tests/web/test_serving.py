"""The page as it is served, on this machine: what it gives out, what it keeps, and when connections and runs end."""

import json
import logging
import re
import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

from duoviz.errors import UserError
from duoviz.recordings import STORY, recorded_runs
from duoviz.web import bounds, front, gradio_internals, serving
from duoviz.web.app import build_app
from duoviz.web.components import Visualizer
from duoviz.web.gradio_internals import Connection
from tests.app import ROOT
from tests.until import wait_until
from tests.web.served import GENERATE, served


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However slow a machine is, who does not listen is waited for."""
    monkeypatch.setattr(bounds, "LISTENER", 600.0)


@pytest.fixture(scope="module")
def page(shared_hardware):
    """One that tests leave as it was."""
    with served(shared_hardware) as page:
        yield page


@pytest.fixture
def fresh(hardware, endless):
    """A page of which a test may look at all that it keeps."""
    with served(hardware) as page:
        yield page


@pytest.fixture
def space(make_hardware, endless, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/duoviz")
    with served(make_hardware(on_space=True)) as page:
        yield page


@pytest.fixture
def impatient(monkeypatch):
    """A function after which nobody is waited for who does not listen: called when those listen who are to."""
    monkeypatch.setattr(bounds, "LOOK", 0.05)
    return lambda: monkeypatch.setattr(bounds, "LISTENER", 0.3)


def test_where_the_page_is_served(hardware):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match="cannot be served there: its port is taken, or its host .* --port"):
            serving.launch(build_app(hardware), hardware, prevent_thread_lock=True, quiet=True, server_port=port)
    with served(hardware, server_port=port, server_name="127.0.0.2") as page:
        assert page.address == ("127.0.0.2", port) and page.ask("GET", "/")[0] == 200


def test_a_link_to_the_page_is_shown_with_its_own_title_and_picture(page):
    html = page.ask("GET", "/")[2].decode()
    elements = re.findall(r'<meta\s+(?:property|name)="((?:og|twitter):\w+)"\s+content="([^"]*)"', html)
    found = dict(elements)
    assert len(found) == len(elements) and found["og:title"] == front.TITLE
    root = "http://{}:{}".format(*page.address)
    assert found["og:url"] == f"{root}/" and found["og:image"].startswith(root)
    status, headers, picture = page.ask("GET", found["og:image"].removeprefix(root))
    assert (status, headers["Content-Type"], picture) == (200, "image/png", front.PICTURE.read_bytes())
    assert "Click to try out" not in html and "@Gradio" not in html


def nothing_kept(page):
    """Whether Gradio holds nothing for those who listen."""
    queue = page.demo._queue
    return not queue.pending_event_ids_session and not queue.pending_messages_per_session


def test_a_run_that_nobody_listens_to_does_not_begin_and_leaves_nothing(fresh, endless, impatient, monkeypatch):
    monkeypatch.setattr(bounds, "LISTENER", 0.3)
    assert fresh.ask("POST", GENERATE, {"prompt": "hello", "method": endless})[0] == 200
    monkeypatch.setattr(fresh.hardware, "start", lambda job: pytest.fail("it was put into the line"))
    impatient()
    wait_until(lambda: nothing_kept(fresh))


def test_a_run_that_nobody_listens_to_any_longer_ends_and_leaves_nothing(fresh, endless, impatient):
    listened = fresh.client().submit(prompt="hello", method=endless, api_name="/generate")
    wait_until(lambda: listened.outputs())
    leaving = fresh.begin({"prompt": "hello", "method": endless})
    wait_until(lambda: len(fresh.hardware.queue) == 2)
    assert leaving.getresponse().readline()
    leaving.close()
    impatient()
    # The first was asked for before, and would have ended before, were nobody listening.
    wait_until(lambda: len(fresh.hardware.queue) == 1)
    assert not fresh.hardware.queue.jobs[0].stop.is_set() and not listened.done()
    listened.cancel()
    wait_until(lambda: not len(fresh.hardware.queue) and nothing_kept(fresh))


def test_on_a_space_a_prompt_of_too_many_tokens_ends_its_run_before_it_is_read(space):
    answer = space.begin({"prompt": "\U0001f9ff" * 1500}).getresponse().read().decode()
    assert "The prompt is too long" in answer and not space.hardware.queue


def test_a_space_starts_without_an_error_in_its_log(make_hardware, monkeypatch):
    failed = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    for name, value in (("SYSTEM", "spaces"), ("SPACE_ID", "someone/duoviz")):
        monkeypatch.setenv(name, value)
    with served(make_hardware(on_space=True)):
        pass
    assert failed == []


def test_the_page_tells_neither_who_was_here_nor_a_path_of_this_machine(page):
    # Who were to keep a connection open for a heartbeat would hold one for ever.
    assert page.demo.config["connect_heartbeat"] is False
    assert page.demo.enable_monitoring is False and page.ask("GET", "/monitoring/summary")[0] == 404
    shown = [page.ask("GET", path)[2].decode() for path in ("/config", "/", "/gradio_api/info")]
    for folder in {str(ROOT), str(Path.home()), str(Path(gr.__file__).parents[1])} - {"/"}:
        assert not any(folder in text for text in shown)
    assert not any(re.search(r'"(/tmp|/home|/root|/usr|/var|[A-Z]:\\\\)', text) for text in shown)


def test_recordings_are_read_at_an_address_of_their_own_and_nothing_beside_them(page):
    (shown,) = (block for block in page.demo.blocks.values() if isinstance(block, Visualizer))
    addresses, files = shown.props["opening"]["addresses"], recorded_runs(STORY)
    assert list(addresses) == [file.name.partition(".")[0] for file in files.values()]
    found, file = f"/{addresses['duodecoding']}", files["duodecoding"]
    status, _, content = page.ask("GET", found)
    assert status == 200 and json.loads(content)["header"]["method"] == "duodecoding"
    for path in (f"{found}/../../../README.md", found.replace(file.name, "..%2f..%2fREADME.md")):
        assert page.ask("GET", path)[0] == 404
    assert page.ask("GET", f"/gradio_api/file={file}")[0] == 403
    # What a run is saved in as a page of its own.
    before, after = json.loads(page.ask("GET", f"/{shown.props['replay']}")[2].removeprefix(b"export default ")[:-2])
    assert before.startswith("<!doctype html>") and after.endswith("</html>\n")


@pytest.fixture
def echo():
    """A page whose one function waits to be let go."""
    let_go = threading.Event()

    def echo(text):
        let_go.wait(20)
        return text

    with gr.Blocks() as demo:
        box = gr.Textbox()
        gr.Button().click(echo, box, box)
    gradio_internals.bound_queue(demo)
    return demo, let_go


def test_an_event_whose_session_is_gone_does_not_end_the_queue(hardware, echo, caplog):
    demo, let_go = echo
    with served(hardware, demo) as page:
        assert [page.join("echo", "hello", session_hash=name)[0] for name in ("ann", "bob", "cat")] == [200] * 3
        wait_until(lambda: len(demo._queue) == 2)
        # Gradio drops the messages of the oldest of many sessions.
        del demo._queue.pending_messages_per_session["cat"]
        let_go.set()
        assert page.client().predict("hello", api_name="/echo") == "hello" and "broke" not in caplog.text


def test_what_strangers_cause_is_logged_a_few_times(monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr(gradio_internals, "time", SimpleNamespace(monotonic=lambda: now[0]))
    log = logging.getLogger("strangers")
    log.addFilter(gradio_internals.LimitedLog())
    for number in range(1000):
        now[0] += 0.01
        log.error("entry %d", number)
    assert len(caplog.records) == bounds.LOGGED_AT_ONCE
    now[0] += bounds.LOGGED_EVERY
    log.error("entry %d", 1000)
    assert caplog.messages[-1] == "entry 1000 (980 entries before it were left out)"


def test_a_function_that_fails_writes_its_traceback_at_our_pace_and_in_short(fresh, caplog, monkeypatch):
    def broken(request: gr.Request):
        raise ValueError("spoilt " * 100_000 + "the end")

    sent = fresh.body("stop")
    monkeypatch.setattr(fresh.demo.fns[sent["fn_index"]], "fn", broken)
    for _ in range(3):
        fresh.ask("POST", "/gradio_api/run/predict", sent)
    assert caplog.text.count("a function of the page failed") == 3 and "the end" in caplog.text
    assert len(caplog.text) < 3 * 3 * bounds.LOGGED


@pytest.fixture
def short(monkeypatch):
    """What a connection may take of its time passes at once."""
    for name, seconds in (("LOOK", 0.02), ("REQUEST", 0.3), ("ANSWER", 0.3)):
        monkeypatch.setattr(bounds, name, seconds)


ASKED = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"""POST /gradio_api/cancel HTTP/1.1\r
Host: localhost\r
Content-Type: application/json\r
Content-Length: 99\r
\r
{"""


def test_a_connection_that_brings_no_whole_request_is_closed(hardware, short):
    with served(hardware) as page:
        # An answer and one byte, and half a body.
        assert page.raw(ASKED + b"G").startswith(b"HTTP/1.1 404") and page.raw(b"") == b"" == page.raw(HALF)
        assert page.raw(b"GET / HTTP/1.1\r\nHost:") == b"" and page.ask("GET", "/config")[0] == 200


def test_a_connection_whose_answer_is_not_read_is_closed_and_one_that_waits_for_its_run_is_not(fresh, endless, short):
    run = fresh.begin({"prompt": "hello", "method": endless})
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.connect(fresh.address)
        for _ in range(40):
            deaf.sendall(b"GET /config HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: len(fresh.demo.server.server_state.connections) >= 2)
        wait_until(lambda: len(fresh.demo.server.server_state.connections) == 1)
    assert run.getresponse().readline()
    run.close()


def test_a_peer_leaves_as_many_connections_as_it_has(fresh, monkeypatch):
    wait_until(lambda: fresh.demo.server.config.http_protocol_class is Connection)
    monkeypatch.setattr(Connection, "most", 12)
    one = [socket.create_connection(fresh.address, 30) for _ in range(10)]
    other = socket.create_connection(fresh.address, 30, source_address=("127.0.0.2", 0))
    wait_until(lambda: len(fresh.demo.server.server_state.connections) == 7)
    for each, sent in ((one[0], b"GET /x"), (other, b"GET /x")):
        each.sendall(sent + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert each.recv(100).startswith(b"HTTP/1.1 404")
    assert one[-1].recv(1) == b""
    for each in (*one, other):
        each.close()


def test_a_name_that_only_leads_here_reads_nothing_and_no_origin_is_let_in_for_it(page):
    name = f"evil.example:{page.address[1]}"
    for path, method in (("/config", "GET"), ("/gradio_api/upload", "POST"), ("/gradio_api/queue/join", "OPTIONS")):
        asked = {"Host": name, "Origin": f"http://{name}", "Access_Control_Request_Method": "POST"}
        status, headers, _ = page.ask(method, path, **asked)
        assert status == 421 and "Access-Control-Allow-Origin" not in headers


def test_a_request_that_two_readers_may_read_as_two_things_ends_its_connection(page):
    join = "POST /gradio_api/queue/join HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"
    for head in (join, "GET / HTTP/1.0\r\nOrigin: http://x", "GET / HTTP/1.0\r\nHost: [::1"):
        answer = page.raw(f"{head}\r\n\r\n0\r\n\r\nGET /config HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1") == 1


PAGES = ("/gradio_api/info", "/gradio_api/openapi.json", "/", "/config")


def test_what_the_page_says_of_itself_is_not_what_the_first_who_asked_wrote(space):
    here, evil = (
        {"Host": "someone-duoviz.hf.space"},
        {"X_Forwarded_Host": "evil.example", "X_Gradio_Server": "http://evil"},
    )
    for path in PAGES:
        space.ask("GET", path, Host="evil.example")
        space.ask("GET", path, **evil | here)
        status, _, content = space.ask("GET", path, **here)
        assert status == 200 and b"evil" not in content, path
        for query in ("page=zzz", "deep_link=../x", "page=&page=x", "all_endpoints=true"):
            status, _, other = space.ask("GET", f"{path}?{query}", **here)
            assert status == 200 and len(other) == len(content), path
