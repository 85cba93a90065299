"""Which requests are answered at all, and which of their headers are believed."""

import http.client
import json
import socket

import pytest

from duoviz.web.heads import Refused, believed, guarded, host_of, is_foreign, known_hosts
from tests.web.test_serving import served, space  # noqa: F401
from tests.web.visits import in_a_loop

HOSTS = {"localhost", "127.0.0.1", "::1", "known.example"}


def scope(host="localhost", *headers, path="/", server=("192.168.1.5", 7860)):
    own = [(b"host", host.encode())] if host is not None else []
    return {"type": "http", "path": path, "server": server, "headers": [*own, *headers]}


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:7860", "127.0.0.1:1", "[::1]:7860", "known.example", "192.168.1.5:7860"]
)
def test_the_machine_answers_to_its_own_names(host):
    assert believed(scope(host), HOSTS, on_space=False)["headers"] == [(b"host", host.encode())]


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:7860", "8.8.8.8", "[::2]", "known.example."])
def test_off_a_space_it_answers_to_no_other(host):
    with pytest.raises(Refused) as refused:
        believed(scope(host), HOSTS, on_space=False)
    assert refused.value.status == 421 and "DUOVIZ_HOSTS" in refused.value.detail
    assert believed(scope(host), HOSTS, on_space=True) and believed(scope(host), {"*"}, on_space=False)


@pytest.mark.parametrize(
    "host", [None, "", "[::1", "a b", "x'; rm -rf ~ #", "$(id)", "a/b", "user@localhost", "h:y", "é"]
)
@pytest.mark.parametrize("on_space", [False, True])
def test_what_is_no_host_is_refused_everywhere(host, on_space):
    with pytest.raises(Refused) as refused:
        believed(scope(host), HOSTS | {"*"}, on_space=on_space)
    assert refused.value.status == 400


@pytest.mark.parametrize("on_space", [False, True])
@pytest.mark.parametrize(
    "name, value, kept",
    [
        ("x-gradio-server", "http://localhost:7860", False), ("x-gradio-server", "http://x:y", False),
        ("x-forwarded-proto", "https", True), ("x-forwarded-proto", "https,http", True),
        ("x-forwarded-proto", "javascript", False), ("x-forwarded-for", "8.8.8.8", True), ("accept", "", True),
    ],
)  # fmt: skip
def test_headers_that_anybody_may_write_are_not_believed(on_space, name, value, kept):
    header = (name.encode(), value.encode())
    assert (header in believed(scope("localhost", header), HOSTS, on_space=on_space)["headers"]) is kept


@pytest.mark.parametrize("value", ["evil.example", "[::1", "known.example, evil.example", ""])
def test_a_name_that_a_proxy_was_reached_at_is_one_of_the_known(value):
    header = (b"x-forwarded-host", value.encode())
    with pytest.raises(Refused) as refused:
        believed(scope("localhost", header), HOSTS, on_space=False)
    assert refused.value.status == 421
    # A Space's own proxy does not set it.
    assert header not in believed(scope("localhost", header), HOSTS, on_space=True)["headers"]
    known = (b"x-forwarded-host", b"known.example:8443")
    assert known in believed(scope("localhost", known), HOSTS, on_space=False)["headers"]


def test_a_request_has_one_host_one_length_and_a_path_that_can_be_a_file(monkeypatch):
    lengths = ((b"content-length", b"5"), (b"transfer-encoding", b"chunked"))
    for spoilt, status in (
        (scope("localhost", (b"host", b"localhost")), 400), (scope("localhost", *lengths), 400),
        (scope(path="/assets/" + "a" * 256), 404), (scope(path="/assets/\0"), 404), (scope(path="/assets/\n"), 404),
    ):  # fmt: skip
        with pytest.raises(Refused) as refused:
            believed(spoilt, HOSTS, on_space=False)
        assert refused.value.status == status
    assert believed(scope(path="/assets/" + "a" * 255), HOSTS, on_space=False)


def test_the_environment_names_more_hosts(monkeypatch):
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    monkeypatch.setenv("SPACE_HOST", "someone-duoviz.hf.space")
    monkeypatch.setenv("GRADIO_ROOT_PATH", "https://Course.example:8443/duoviz")
    monkeypatch.setenv("DUOVIZ_HOSTS", "lab.example, Other.Example")
    known = {"localhost", "course.example", "lab.example", "other.example", "someone-duoviz.hf.space", "0.0.0.0"}
    assert "root.example" in known_hosts("https://root.example/duoviz") and "root.example" not in known_hosts("/duoviz")
    assert "here.example" in known_hosts(server_name="here.example")
    assert known_hosts() >= known | {socket.gethostname().lower()} and "" not in known_hosts()


@pytest.mark.parametrize(
    "headers, foreign",
    [
        ({}, False), ({"origin": "http://localhost:7860"}, False), ({"origin": "https://known.example:8443"}, False),
        ({"origin": "http://evil.example"}, True), ({"origin": "null"}, True),
        # What a browser itself says of its page is right behind every proxy.
        ({"origin": "https://public.example", "sec-fetch-site": "same-origin"}, False),
        ({"origin": "http://localhost", "sec-fetch-site": "cross-site"}, True), ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "same-site"}, True),
    ],
)  # fmt: skip
def test_whose_page_a_browser_asks_for(headers, foreign):
    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    assert is_foreign(scope("localhost:7860", *named), HOSTS) is foreign


def test_the_name_in_a_host():
    assert [host_of(text) for text in ("A.b:1", "[::1]:2", "https://a.b:3", "", "a:b")] == ["a.b", "::1", "a.b", "", ""]


def guard(**scope_changes):
    """What reaches the application behind the guard, and what is answered for it."""
    reached, sent = [], []

    async def app(scope, receive, send):
        reached.append(scope)

    async def send(message):
        sent.append(message)

    asked = scope() | {"method": "GET", "query_string": b""} | scope_changes
    in_a_loop(guarded(app, HOSTS, on_space=False)(asked, None, send))
    return reached, sent


@pytest.mark.parametrize("root", ["/demo", "/demo/", "https://a.test/demo", "https://a.test/demo/"])
def test_a_proxy_may_take_the_root_path_off_or_leave_it(root):
    # As ASGI has it, and as routes below routes need it.
    for path in ("/config", "/demo/config"):
        ((found,), _) = guard(root_path=root, path=path)
        assert (found["root_path"], found["path"]) == ("/demo", "/demo/config")
    for path in ("/demonstration/config", "/demo/demo/config"):
        ((found,), _) = guard(root_path=root, path=path)
        assert found["path"].removeprefix("/demo") != "/config"


@pytest.mark.parametrize("root", ["/school/demo", "https://a.test/school/demo"])
def test_without_its_last_slash_the_page_says_where_it_is_from_there(root):
    reached, (start, _) = guard(root_path=root, path="/school/demo", query_string=b"tab=lab")
    assert start["status"] == 307 and (b"location", b"demo/?tab=lab") in start["headers"] and not reached


def test_a_websocket_is_closed():
    assert guard(type="websocket") == ([], [{"type": "websocket.close"}])


def raw(page, request):
    """What the server answers to these bytes, until it closes the connection."""
    with socket.create_connection(page.address, 30) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


@pytest.fixture(scope="module")
def page(shared_hardware):
    with served(shared_hardware) as page:
        yield page


def test_a_name_that_only_leads_here_reads_nothing_and_no_origin_is_let_in_for_it(page):
    host, port = page.address
    for path, method in (("/config", "GET"), ("/gradio_api/upload", "POST"), ("/gradio_api/queue/join", "OPTIONS")):
        headers = {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}",
                   "Access-Control-Request-Method": "POST"}  # fmt: skip
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 421 and "Access-Control-Allow-Origin" not in answer.headers
        connection.close()


@pytest.mark.parametrize(
    "request_line, headers",
    [
        ("POST /gradio_api/queue/join HTTP/1.1", "Host: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"),
        ("GET / HTTP/1.0", "Origin: http://x"), ("GET / HTTP/1.0", "Host: [::1"),
    ],
)  # fmt: skip
def test_a_request_that_two_readers_may_read_as_two_things_ends_its_connection(page, request_line, headers):
    smuggled = "GET /config HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = raw(page, f"{request_line}\r\n{headers}\r\n\r\n0\r\n\r\n{smuggled}".encode())
    assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1") == 1


def test_what_the_page_says_of_itself_is_not_what_the_first_who_asked_wrote(space):  # noqa: F811
    evil = {"Host": "evil.example", "X_Forwarded_Host": "evil.example", "X_Gradio_Server": "http://evil.example"}
    for path in ("/gradio_api/info", "/gradio_api/info?all_endpoints=true", "/gradio_api/openapi.json", "/", "/config"):
        space.ask("GET", path, **evil)
        space.ask("GET", path, **evil | {"Host": "someone-duoviz.hf.space"})
        status, _, content = space.ask("GET", path, Host="someone-duoviz.hf.space")
        assert status == 200 and b"evil" not in content, path


@pytest.mark.parametrize(
    "query", ["page=zzz", "deep_link=../x", "page=&page=x", "all_endpoints=true", "x=" + "y" * 5000]
)
def test_a_visitors_query_changes_nothing_of_what_the_page_says(page, query):
    for path in ("/", "/config", "/gradio_api/info", "/gradio_api/openapi.json"):
        status, _, content = page.ask("GET", f"{path}?{query}")
        assert status == 200 and len(content) == len(page.ask("GET", path)[2])


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"NaN", b"1" * 4000, b"true", b'"5"', b"null", b"[[[[]]]]"])
@pytest.mark.parametrize("path", ["queue/join", "run/predict", "call/generate", "cancel", "reset", "component_server"])
def test_no_value_makes_the_server_fail(page, capfd, path, number):
    for name in ("fn_index", "trigger_id", "session_hash", "event_id", "event_data", "data", "component_id"):
        body = b'{"fn_index": 5, "session_hash": "ann", "data": [], "%s": %s}' % (name.encode(), number)
        status, _, told = page.ask("POST", f"/gradio_api/{path}", body, Content_Type="application/json")
        assert status < 500 and (status == 200 or json.loads(told)["detail"]), (name, told)
    assert "Traceback" not in capfd.readouterr().err
