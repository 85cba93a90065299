"""Connections that ask for nothing, ask by halves, or do not take their answer; and requests that never end."""

import json
import re
import socket
import time
from contextlib import ExitStack

from tests.benchmarks.attacks.site import Result, Site, attack

# As many as this program itself may open.
CONNECTIONS, SECONDS = 900, 20


@attack("connections", "a visitor's run is right beside them, and after they are gone")
def idle_connections(site: Site) -> Result:
    visitor = site.visitor()
    expected = site.run_of(visitor)[1]["text"]
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stack.enter_context(site.connect())
        beside, (seconds, summary) = time.monotonic(), site.run_of(visitor)
        time.sleep(max(0.0, SECONDS - (time.monotonic() - beside)))
    right = [summary["text"] == expected, site.run_of(visitor)[1]["text"] == expected]
    return Result(f"{CONNECTIONS} idle connections", f"a run beside them {seconds:.1f} s; right: {right}", all(right))


@attack("connections", "closed within a minute and a half, and a visitor's run is right beside them")
def that_never_end(site: Site) -> Result:
    """A page's largest file that is not read, half a request, and one byte after an answer."""
    visitor = site.visitor()
    expected = site.run_of(visitor)[1]["text"]
    file = max(re.findall(r'"([^"]*assets/[^"]+[.]js)"', site.ask("GET", "/")[2].decode()), key=len).lstrip(".")
    kinds = [f"GET {file} HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20, "GET / HTTP/1.1\r\nHost: lo",
             "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\nG"]  # fmt: skip
    with ExitStack() as stack:
        opened = []
        for number in range(327):
            each = stack.enter_context(socket.socket())
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            each.connect(site.address)
            each.sendall(kinds[number % 3].encode())
            opened.append(each)
        right = site.run_of(visitor)[1]["text"] == expected
        time.sleep(92)
        left = sum(connection.status == "ESTABLISHED" and connection.laddr.port == site.address[1]
                   for connection in site.family()[0].net_connections("tcp"))  # fmt: skip
    return Result(
        "327 connections of three kinds",
        f"{left} open after 92 s; a run beside them right: {right}",
        right and left < 9,
    )


@attack("connections", "a visitor's 300 kB are read within ten seconds", kind="space")
def that_send_nothing(site: Site) -> Result:
    """Sixty requests in pieces, of which none comes."""
    head = "POST /gradio_api/queue/join HTTP/1.1\r\nHost: x.hf.space\r\nTransfer-Encoding: chunked\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(site.connect()).sendall(head.encode())
        begin = time.monotonic()
        body = json.dumps({"prompt": "x " * 150_000}).encode()
        status = site.ask("POST", "/gradio_api/call/v2/generate", body, **site.forwarded("1.0.0.1"))[0]
        seconds = time.monotonic() - begin
    return Result("60 silent requests", f"{status} after {seconds:.1f} s", status == 422 and seconds < 10)


@attack("connections", "a peer leaves room for others, who are answered", kind="space")
def as_many_as_there_may_be(site: Site) -> Result:
    opened = []
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            opened.append(stack.enter_context(site.connect()))
        other = stack.enter_context(socket.create_connection(site.address, 10, source_address=("127.0.0.2", 0)))
        other.sendall(b"GET /x HTTP/1.1\r\nHost: x.hf.space\r\n\r\n")
        answer = other.recv(100)
    return Result(f"{CONNECTIONS} of one peer", f"another one: {answer[:20]!r}", answer.startswith(b"HTTP/1.1 404"))
