"""Items 5 and 14: what a request says of where it came from and ends, and files that nobody asked for."""

import socket
from urllib.parse import urlsplit

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site

EVIL = ("evil.example", "x$(id).example", "evil.example';id;'")


@attack("14 heads", "nobody reads another's host in what the page says of itself", kind="space")
def whoever_asks_first(site: Site) -> Result:
    paths = ("/gradio_api/info", "/gradio_api/openapi.json", "/config", "/")
    for name in EVIL:
        for header in ("Host", "X-Forwarded-Host", "X-Gradio-Server"):
            value = f"http://{name}" if header == "X-Gradio-Server" else name
            for path in paths:
                site.ask("GET", path, **{header: value})
    said = [path for path in paths if any(name in site.ask("GET", path)[2] for name in EVIL)]
    return Result(f"{len(EVIL)} names in three headers", f"named afterwards in: {said}", not said)


@attack("14 heads", "a page under a name that leads here (DNS rebinding) reads and starts nothing")
def rebinding(site: Site) -> Result:
    host = f"evil.example:{urlsplit(site.url).port}"
    asked = [("GET", "/config", None), ("POST", "/gradio_api/queue/join", {}), ("POST", "/gradio_api/upload", b"x"),
             ("OPTIONS", "/gradio_api/upload", None), ("GET", "/gradio_api/info", None)]  # fmt: skip
    answers = [site.ask(*each, Host=host, Origin=f"http://{host}") for each in asked]
    shut = [answer[0] == 421 and "access-control-allow-origin" not in map(str.lower, answer[1]) for answer in answers]
    return Result(f"{len(asked)} requests", f"answers: {[answer[0] for answer in answers]}", all(shut))


@attack("14 heads", "400, and the connection ends: nothing behind it is a request", kind="space")
def smuggling(site: Site) -> Result:
    behind = "0\r\n\r\nGET /config HTTP/1.1\r\nHost: localhost\r\n\r\n"
    length = f"Content-Length: {len(behind)}"
    found = []
    for fields in (f"{length}\r\nTransfer-Encoding: chunked", f"Transfer-Encoding: chunked\r\n{length}"):
        head = f"POST /gradio_api/queue/join HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n"
        answer = answer_to(site, (head + behind).encode())
        found.append(answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1 ") == 1)
    return Result("both lengths, in both orders", f"held: {found}", all(found))


def answer_to(site: Site, request: bytes) -> bytes:
    """All that comes back until the server closes the connection."""
    parts = urlsplit(site.url)
    with socket.create_connection((parts.hostname, parts.port), 60) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


HEAD = b'--b\r\nContent-Disposition: form-data; name="files"; filename="x.html"\r\n\r\n'


@attack("5 uploads", "nothing larger than 100 MB is taken, and nothing from another site")
def on_ones_own_machine(site: Site) -> Result:
    large = send(site, 200_000_000)
    foreign = send(site, 1000, Origin="http://elsewhere.example")
    own = send(site, 1000)
    told = f"200 MB: {large}; from another site: {foreign}; a small one: {own}; {kept(site) / 1e6:.0f} MB kept"
    return Result("200 MB, and a file for another site's page", told, (large, foreign, own) == (413, 403, 200))


@attack("5 uploads", "nothing is taken", kind="space")
def on_a_space(site: Site) -> Result:
    statuses = {size: send(site, size) for size in (10, 200_000_000)}
    told = f"answers: {statuses}; {kept(site) / 1e6:.1f} MB kept"
    return Result("10 bytes and 200 MB", told, set(statuses.values()) == {403} and kept(site) < 1e6)


def send(site: Site, size: int, **headers: str) -> int | str:
    """The status of an upload; what broke off where the server did not want to read on."""
    body = HEAD + b"x" * size + b"\r\n--b--\r\n"
    try:
        return site.ask(
            "POST", "/gradio_api/upload", body, **{"Content-Type": "multipart/form-data; boundary=b"}, **headers
        )[0]
    except OSError as error:
        return type(error).__name__


def kept(site: Site) -> int:
    """Bytes in the server's temporary folder."""
    return sum(file.stat().st_size for file in site.scratch.rglob("*") if file.is_file())
