"""Who asks: the keys under which one client's requests count together."""

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The models load while Gradio is imported, so what they need does not import it.
    import gradio as gr

Keys = frozenset[str]

# Where the gate leaves a request's keys for the functions that it reaches.
IN_SCOPE = "duoviz.client"
UNKNOWN = "unknown"


def keys_of(scope: Mapping, session: str | None, *, on_space: bool) -> Keys:
    """The keys of the client behind an ASGI request: its session and its address.

    Off a Space, all that comes from this machine itself is its user's own: there an address counts only for
    what has no session.
    """
    address = address_of(scope, on_space=on_space)
    own = not on_space and is_loopback(address)
    keys = {f"session {session}"} if session else set()
    return frozenset(keys if own and session else keys | {f"address {address}"})


def address_of(scope: Mapping, *, on_space: bool) -> str:
    """The address that a request came from; of IPv6 the network, for one client has all of its addresses.

    A Space's proxies tell it in X-Forwarded-For, each adding whom it got the request from at the end: what a
    client wrote there itself stands before its own address, and private addresses are the proxies'.
    """
    chain = [scope["client"][0]] if scope.get("client") else []
    if on_space:
        told = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin-1")
        chain = [*(each.strip() for each in told.split(",")), *chain]
    found = [address for each in chain if (address := read_address(each))]
    if not found:
        return UNKNOWN
    address = ([each for each in found if each.is_global] or found)[-1]
    shared = address.version == 6 and not address.is_loopback
    return str(ip_network((address, 64), strict=False)) if shared else str(address)


def read_address(text: str):
    """An IPv4 or IPv6 address, None for what is none."""
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_loopback(address: str) -> bool:
    return address == UNKNOWN or ip_network(address).is_loopback


def keys_of_request(request: "gr.Request") -> Keys:
    """The keys that the gate found; where there was no gate, the session's."""
    scope = request.request.scope if request.request else {}
    return scope.get(IN_SCOPE) or frozenset({f"session {request.session_hash}"})
