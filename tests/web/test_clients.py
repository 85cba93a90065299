"""Which requests count together."""

import pytest

from duoviz.web.clients import address_of, keys_of


def scope(peer="10.0.0.9", forwarded=()):
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
    assert address_of(scope(forwarded=forwarded), on_space=True) == address


def test_off_a_space_nobody_else_tells_the_address():
    assert address_of(scope("192.168.0.7", ["8.8.8.8"]), on_space=False) == "192.168.0.7"
    assert address_of(scope(None), on_space=False) == "unknown"


def test_a_client_is_its_session_and_its_address():
    assert keys_of(scope(forwarded=["8.8.8.8"]), "ann", on_space=True) == {"session ann", "address 8.8.8.8"}
    assert keys_of(scope(forwarded=["8.8.8.8"]), None, on_space=True) == {"address 8.8.8.8"}
    assert keys_of(scope("192.168.0.7"), "ann", on_space=False) == {"session ann", "address 192.168.0.7"}


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", None])
def test_on_ones_own_machine_sessions_are_told_apart(peer):
    assert keys_of(scope(peer), "ann", on_space=False) == {"session ann"}
    (without,) = keys_of(scope(peer), None, on_space=False)
    assert without.startswith("address ")
