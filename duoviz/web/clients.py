"""Who asks: a visitor's session, and the address that it shares with others."""

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from duoviz.workers.jobs import Client

if TYPE_CHECKING:
    # The models load while Gradio is imported, so what they need does not import it.
    import gradio as gr

# Where the gate leaves a request's client for the functions that it reaches, and what is set once somebody listens.
IN_SCOPE, HEARD = "duoviz.client", "duoviz.heard"
UNKNOWN = "unknown"


def client_of(scope: Mapping, session: str | None, *, on_space: bool) -> Client:
    """The client behind an ASGI request."""
    address = address_of(scope, on_space=on_space)
    own = not on_space and (address == UNKNOWN or ip_network(address).is_loopback)
    return Client(session or f"at {address}", None if own else address)


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


def scope_of(request: "gr.Request") -> Mapping:
    """The ASGI scope behind a request; empty where there is none."""
    return request.request.scope if request.request else {}


def session_of(request: "gr.Request") -> str:
    """Which page in which browser asks; "" where it does not say."""
    return request.session_hash or ""


def client_of_request(request: "gr.Request") -> Client:
    """The client that the gate found; where there was no gate, the session's."""
    return scope_of(request).get(IN_SCOPE) or Client(session_of(request))
