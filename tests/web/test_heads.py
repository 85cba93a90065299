"""Which requests are answered at all, which of their headers are believed, and which count together."""

import socket

import pytest

from duoviz.web.heads import Refused, address_of, believed, client_of, is_foreign, known_hosts

HOSTS = {"localhost", "127.0.0.1", "::1", "known.example"}


def scope(host="localhost", *headers, path="/", server=("192.168.1.5", 7860)):
    own = [(b"host", host.encode())] if host is not None else []
    return {"type": "http", "path": path, "server": server, "headers": [*own, *headers]}


def refusal(asked, hosts=HOSTS, *, on_space=False):
    """The status that a request is refused with."""
    with pytest.raises(Refused) as refused:
        believed(asked, hosts, on_space=on_space)
    assert refused.value.status != 421 or "DUOVIZ_HOSTS" in refused.value.detail
    return refused.value.status


def test_off_a_space_the_machine_answers_to_its_own_names_alone():
    for host in ("localhost", "LOCALHOST:7860", "127.0.0.1:1", "[::1]:7860", "known.example", "192.168.1.5:7860"):
        assert believed(scope(host), HOSTS, on_space=False)["headers"] == [(b"host", host.encode())]
    for host in ("evil.example", "localhost.evil.example:7860", "8.8.8.8", "[::2]", "known.example."):
        assert refusal(scope(host)) == 421
        assert believed(scope(host), HOSTS, on_space=True) and believed(scope(host), {"*"}, on_space=False)
    for host in (None, "", "[::1", "a b", "x'; rm -rf ~ #", "$(id)", "a/b", "user@localhost", "h:y", "é"):
        assert [refusal(scope(host), {"*"}, on_space=on_space) for on_space in (False, True)] == [400, 400]


@pytest.mark.parametrize("on_space", [False, True])
@pytest.mark.parametrize(
    "name, value, kept",
    [
        ("x-gradio-server", "http://localhost:7860", False), ("x-gradio-server", "http://x:y", False),
        ("x-forwarded-proto", "https", True), ("x-forwarded-for", "8.8.8.8", True), ("accept", "", True),
    ],
)  # fmt: skip
def test_headers_that_anybody_may_write_are_not_believed(on_space, name, value, kept):
    header = (name.encode(), value.encode())
    assert (header in believed(scope("localhost", header), HOSTS, on_space=on_space)["headers"]) is kept


@pytest.mark.parametrize("value", ["evil.example", "[::1", "known.example, evil.example", ""])
def test_a_name_that_a_proxy_was_reached_at_is_one_of_the_known(value):
    header = (b"x-forwarded-host", value.encode())
    assert refusal(scope("localhost", header)) == 421
    # A Space's own proxy does not set it.
    assert header not in believed(scope("localhost", header), HOSTS, on_space=True)["headers"]
    known = (b"x-forwarded-host", b"known.example:8443")
    assert known in believed(scope("localhost", known), HOSTS, on_space=False)["headers"]


def test_a_request_has_one_host_one_length_and_a_path_that_can_be_a_file():
    lengths = ((b"content-length", b"5"), (b"transfer-encoding", b"chunked"))
    assert refusal(scope("localhost", (b"host", b"localhost"))) == refusal(scope("localhost", *lengths)) == 400
    assert [refusal(scope(path=f"/assets/{name}")) for name in ("a" * 256, "\0", "\n")] == [404] * 3
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
        ({"origin": "http://192.168.1.5:7860"}, False),
        # What a browser itself says of its page is right behind every proxy.
        ({"origin": "https://public.example", "sec-fetch-site": "same-origin"}, False),
        ({"origin": "http://localhost", "sec-fetch-site": "cross-site"}, True), ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "same-site"}, True),
    ],
)  # fmt: skip
def test_whose_page_a_browser_asks_for(headers, foreign):
    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    assert is_foreign(scope("192.168.1.5:7860", *named), HOSTS) is foreign


@pytest.mark.parametrize("root", ["/demo", "/demo/", "https://a.test/demo", "https://a.test/demo/"])
def test_a_proxy_may_take_the_root_path_off_or_leave_it(root):
    def placed(path):
        found = believed(scope(path=path) | {"root_path": root}, HOSTS, on_space=False)
        return found["root_path"], found["path"]

    # As ASGI has it, and as routes below routes need it.
    assert placed("/config") == placed("/demo/config") == ("/demo", "/demo/config")
    for path in ("/demonstration/config", "/demo/demo/config"):
        assert placed(path)[1].removeprefix("/demo") != "/config"


def asked_from(peer="10.0.0.9", forwarded=()):
    headers = [(b"x-forwarded-for", each.encode()) for each in forwarded]
    return {"client": (peer, 1234) if peer else None, "headers": headers}


@pytest.mark.parametrize(
    "forwarded, address",
    [
        (["8.8.8.8"], "8.8.8.8"),
        # What a client writes there itself stands before what the proxies found out.
        (["1.1.1.1, 8.8.8.8"], "8.8.8.8"),
        (["1.1.1.1", "8.8.8.8, 10.1.2.3"], "8.8.8.8"),
        (["1.1.1.1, nonsense"], "1.1.1.1"),
        (["10.1.2.3"], "10.0.0.9"),
        ([], "10.0.0.9"),
        # All addresses of one IPv6 network are one client's.
        (["2606:4700:1:2:3:4:5:6"], "2606:4700:1:2::/64"),
        (["::ffff:8.8.8.8"], "8.8.8.8"),
    ],
)
def test_a_spaces_proxies_tell_the_address(forwarded, address):
    assert address_of(asked_from(forwarded=forwarded), on_space=True) == address


def test_off_a_space_nobody_else_tells_the_address():
    assert address_of(asked_from("192.168.0.7", ["8.8.8.8"]), on_space=False) == "192.168.0.7"
    assert address_of(asked_from(None), on_space=False) == "unknown"


@pytest.mark.parametrize(
    "peer, session, on_space, client",
    [
        ("8.8.8.8", "ann", True, ("ann", "8.8.8.8")), ("8.8.8.8", None, True, ("at 8.8.8.8", "8.8.8.8")),
        ("127.0.0.1", "ann", True, ("ann", "127.0.0.1")), ("192.168.0.7", "ann", False, ("ann", "192.168.0.7")),
        # On one's own machine only sessions are told apart.
        *((peer, "ann", False, ("ann", None)) for peer in ("127.0.0.1", "::1", None)),
        ("127.0.0.1", None, False, ("at 127.0.0.1", None)),
    ],
)  # fmt: skip
def test_a_client_is_its_session_at_an_address(peer, session, on_space, client):
    assert client_of(asked_from(peer), session, on_space=on_space) == client
