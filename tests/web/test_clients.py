"""Which requests count together."""

import pytest

from duoviz.web.heads import address_of, client_of


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


def test_a_client_is_its_session_at_an_address():
    assert client_of(scope(forwarded=["8.8.8.8"]), "ann", on_space=True) == ("ann", "8.8.8.8")
    assert client_of(scope(forwarded=["8.8.8.8"]), None, on_space=True) == ("at 8.8.8.8", "8.8.8.8")
    assert client_of(scope("192.168.0.7"), "ann", on_space=False) == ("ann", "192.168.0.7")
    assert client_of(scope("127.0.0.1"), "ann", on_space=True) == ("ann", "127.0.0.1")


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", None])
def test_on_ones_own_machine_only_sessions_are_told_apart(peer):
    assert client_of(scope(peer), "ann", on_space=False) == ("ann", None)
    assert client_of(scope(peer), None, on_space=False).address is None
