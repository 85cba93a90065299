"""The head of a request: who asks, what is refused for it, and which of its headers are believed."""

import os
import re
import socket
from collections.abc import Mapping, Set
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from duoviz.web import bounds
from duoviz.workers.request_queue import Client

HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")
# The environment variable with names that the page answers to, besides the machine's own, by commas; * for any.
HOSTS = "DUOVIZ_HOSTS"
# Where the gate leaves a request's client for the functions that it reaches, and what is set once somebody listens.
IN_SCOPE, HEARD = "duoviz.client", "duoviz.heard"
UNKNOWN = "unknown"


class Refused(Exception):
    """An answer that ends a request: its status and what it says."""

    def __init__(self, status: int, detail: object):
        self.status, self.detail = status, detail


def known_hosts(root_path: str | None = None, server_name: str | None = None) -> set[str]:
    """The names that this machine's page is reached at, as far as they can be known before it is served."""
    here, space, root = (os.environ.get(name, "") for name in ("GRADIO_SERVER_NAME", "SPACE_HOST", "GRADIO_ROOT_PATH"))
    root, here = root if root_path is None else root_path, server_name or here
    others = (name.strip().lower() for name in os.environ.get(HOSTS, "").split(","))
    own = socket.gethostname().lower()
    names = {"localhost", "127.0.0.1", "::1", own, f"{own}.local", here.strip("[]"), space, urlsplit(root).hostname}
    return {name for name in (*names, *others) if name}


def host_of(text: str) -> str:
    """The name in a Host, or in an Origin, in small letters and without its port; "" where it is none."""
    found = HOST.fullmatch(text.rpartition("://")[2])
    return found[1].strip("[]").lower() if found else ""


def believed(scope: dict, hosts: Set[str], *, on_space: bool) -> dict:
    """A request without the headers that anybody may have written, and with its root path as ASGI has it.

    Where a page of another site has a name that leads to this machine (DNS rebinding), Host says that name. A path
    begins with the root path, also behind a proxy that takes it off. Raises Refused.
    """
    headers, path = Headers(scope=scope), scope["path"]
    if "transfer-encoding" in headers and "content-length" in headers:
        raise Refused(400, "A request has either a length or a transfer encoding.")
    if not path.isprintable() or max(map(len, path.encode().split(b"/"))) > bounds.PATH_PART:
        raise Refused(404, "Not found.")
    # A proxy of the machine's own says by which name it was reached itself; a Space's tells it as the host.
    asked, forwarded = ([*map(host_of, headers.getlist(name))] for name in ("host", "x-forwarded-host"))
    if len(asked) != 1 or not asked[0]:
        raise Refused(400, "A request names its host.")
    if not on_space and "*" not in hosts:
        reached = (scope.get("server") or ("",))[0]
        for name in asked + forwarded:
            if name not in hosts and name != reached:
                raise Refused(421, f"This page does not answer to the name {name or '?'}: set {HOSTS} to it.")
    dropped = {b"x-gradio-server"} | ({b"x-forwarded-host"} if on_space else set())
    root = urlsplit(scope.get("root_path", "")).path.rstrip("/")
    path = path.removeprefix(root) if f"{path}/".startswith(f"{root}/") else path
    kept = [(name, value) for name, value in scope["headers"] if name not in dropped]
    return scope | {"headers": kept, "root_path": root, "path": root + path}


def is_foreign(scope: dict, hosts: Set[str]) -> bool:
    """Whether a browser sends this for a page of another site."""
    headers = Headers(scope=scope)
    if site := headers.get("sec-fetch-site"):
        return site in ("cross-site", "same-site")
    origin = headers.get("origin")
    return origin is not None and host_of(origin) not in hosts | {host_of(headers.get("host", ""))}


def client_of(scope: Mapping, session: str | None, *, on_space: bool) -> Client:
    """The client behind an ASGI request."""
    address = address_of(scope, on_space=on_space)
    return Client(session or f"at {address}", None if is_own(address, on_space=on_space) else address)


def is_own(address: str, *, on_space: bool) -> bool:
    """Whether this is one's own machine."""
    return not on_space and (address == UNKNOWN or ip_network(address).is_loopback)


def address_of(scope: Mapping, *, on_space: bool) -> str:
    """The address that a request came from; of IPv6 the network, for one client has all of its addresses.

    A Space's proxies tell it in X-Forwarded-For, each adding whom it got the request from at the end: what a
    client wrote there itself stands before its own address, and private addresses are the proxies'.
    """
    chain = [scope["client"][0]] if scope.get("client") else []
    if on_space:
        forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin-1")
        chain = [*(part.strip() for part in forwarded.split(",")), *chain]
    addresses = [address for text in chain if (address := read_address(text))]
    if not addresses:
        return UNKNOWN
    address = ([candidate for candidate in addresses if candidate.is_global] or addresses)[-1]
    shared = address.version == 6 and not address.is_loopback
    return str(ip_network((address, 64), strict=False)) if shared else str(address)


def read_address(text: str):
    """An IPv4 or IPv6 address, None for what is none."""
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
