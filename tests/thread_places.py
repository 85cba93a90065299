"""Places in threads of the test's own process, so that a test can look into them and change what they do."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from unittest import mock

from duoviz.decoding.engine import Engine
from duoviz.places.line import Line
from duoviz.places.messages import PlaceDied
from duoviz.places.place import Place, serve
from duoviz.places.pool import Pool, Seat
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware
from tests.tiny import tiny_engine

Load = Callable[..., Engine]


class ThreadPlace:
    """A `PlaceHandle` of a thread. load: called as `load_engine` is."""

    def __init__(self, load: Load):
        self.pipe, theirs = Pipe()
        self.place = Place(theirs.send, load)
        self.thread = threading.Thread(target=self.serve, args=(theirs,), daemon=True)
        self.thread.start()

    def serve(self, pipe) -> None:
        serve(pipe, self.place)
        pipe.close()

    def send(self, message) -> None:
        try:
            self.pipe.send(message)
        except OSError as error:
            raise PlaceDied("The thread ended") from error

    def receive(self, seconds: float) -> dict | None:
        try:
            return self.pipe.recv() if self.pipe.poll(seconds) else None
        except (EOFError, OSError) as error:
            raise PlaceDied("The thread ended") from error

    def alive(self) -> bool:
        return self.thread.is_alive() and not self.pipe.closed

    def close(self) -> None:
        self.pipe.close()
        self.thread.join(10)


def kill(place: Place) -> None:
    """As if its process had died: its pipe ends, also for a thread that waits at it."""
    with socket.socket(fileno=os.dup(place.emit.__self__.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)


def hardware_with(load: Load = lambda name, progress: tiny_engine(), *, places: int = 1, **limits) -> Hardware:
    """Hardware of such places, with these limits. load: called with a pair's name and a progress."""

    def start() -> ThreadPlace:
        return ThreadPlace(lambda name, progress, sources, *, draft: load(name, progress))

    limits = Limits(**limits)
    seats = [Seat(start=start) for _ in range(places)]
    return Hardware(limits, Pool(seats, Line(limits.bounds, places), helper=start))


def place_of(hardware: Hardware, number: int = 0) -> Place:
    return hardware.pool.seats[number].place.place


@contextmanager
def nothing_to_fetch() -> Iterator[None]:
    """Every pair has room and its files here."""
    with (
        mock.patch("duoviz.places.place.check_room", lambda name, spare: None),
        mock.patch("duoviz.places.doing.check_room", lambda name, spare: None),
        mock.patch("duoviz.places.doing.fetch_pair", lambda name, progress: ()),
    ):
        yield
