"""The server's connections: how many there may be, and which are closed because they do nothing."""

from asyncio import Transport
from collections.abc import Iterable

from uvicorn.protocols.http.h11_impl import H11Protocol

from duoviz.web import bounds


class Connection(H11Protocol):
    """Closes at once where its peer has more connections than are left for others. most: of all peers."""

    most = bounds.CONNECTIONS

    def connection_made(self, transport: Transport) -> None:
        super().connection_made(transport)
        others = [peer_of(each) for each in self.connections if each is not self]
        if others.count(peer_of(self)) >= bounds.share(self.most, self.most, len(others)):
            transport.abort()


def peer_of(connection: H11Protocol) -> str:
    return connection.client[0] if connection.client else ""


def state_of(connection: H11Protocol) -> tuple[float, object]:
    """Seconds for which a connection may stay in its state, and that state."""
    cycle, waiting = connection.cycle, connection.transport.get_write_buffer_size()
    if waiting:
        return bounds.ANSWER, (cycle, waiting)
    if cycle is None or cycle.response_complete or cycle.more_body:
        uploading = cycle and cycle.more_body and connection.scope["path"].endswith("/upload")
        return bounds.UPLOADING if uploading else bounds.REQUEST, (cycle, cycle and cycle.response_complete)
    return float("inf"), None


class Watch:
    """Closes connections that have stayed in one state for too long."""

    def __init__(self):
        # Of each connection its state, and since when.
        self.seen: dict[H11Protocol, tuple[object, float]] = {}

    def look(self, connections: Iterable[H11Protocol], now: float) -> None:
        before, self.seen = self.seen, {}
        for connection in list(connections):
            allowed, state = state_of(connection)
            known, since = before.get(connection, (None, now))
            self.seen[connection] = (state, since if known == state else now)
            if now - self.seen[connection][1] > allowed:
                connection.transport.abort()
