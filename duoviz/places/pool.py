"""The places of one server: each takes the next job of the line, and one that dies is replaced."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from itertools import count

from duoviz.models.registry import needs_the_hub
from duoviz.places.jobs import Job
from duoviz.places.line import Line, LineFull
from duoviz.places.local import LocalPlace, PlaceHandle
from duoviz.places.messages import INTERNAL, Halt, Order, PlaceDied, PlaceGone, Quiet
from duoviz.places.work import Fetch, Load

# Seconds between two looks whether a job is to end, and between two looks for places that have died idle.
GLANCE, LOOK = 0.05, 1.0
# Seconds in which an order must end that is to end: before it decodes, and then, where a report may have to be written.
LETTING_GO, ENDING = 5.0, 60.0
# Seconds in which the jobs under way must end when all of it does.
CLOSING = 10.0
NO_PLACE = "No machine is left to run this: start the server again."
AGAIN = "{}. Start the run again; other runs go on."

log = logging.getLogger(__name__)

Start = Callable[[], PlaceHandle]


class Alone(Enum):
    """Whether a place wants its machine, or has it, for itself."""

    NO, WANTED, GRANTED = range(3)


@dataclass(eq=False, kw_only=True)
class Seat:
    """A place as its thread sees it. start: starts the place. name: for results. machine: where it is.

    job: what it does now. loaded, longest_prompt, memory: of the pair that it has. status: what it is doing before it
    decodes. broken: whether it died as it loaded its first pair, which is not tried again before a job comes.
    """

    start: Start
    name: str = "place 1"
    machine: str = ""
    place: PlaceHandle | None = None
    job: Job | None = None
    alone: Alone = Alone.NO
    loaded: str | None = None
    longest_prompt: int | None = None
    memory: dict = field(default_factory=dict)
    status: str = ""
    broken: bool = False

    @property
    def works(self) -> bool:
        """Whether it takes time from others now."""
        return self.alone is Alone.GRANTED or (self.job is not None and self.alone is Alone.NO)

    def alive(self) -> bool:
        return self.place is not None and self.place.alive()

    def discard(self) -> None:
        """End the place."""
        if self.place:
            self.place.close()
        self.place = self.loaded = self.longest_prompt = None
        self.memory = {}


class Pool:
    """One thread for each place. pair: what each place loads before its first job, None for nothing.

    helper: starts a place that fetches models from the hub beside the runs; None: each place fetches its own.
    """

    def __init__(self, seats: Sequence[Seat], line: Line, *, helper: Start | None = LocalPlace):
        self.seats, self.line, self.helper = list(seats), line, helper
        self.pair: str | None = None
        self.numbers = count(1)
        self.closed = False
        # One after another, so that a slow hub holds up only those who want models from it.
        self.fetcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fetcher")
        self.threads = [threading.Thread(target=self.serve, args=(seat,), daemon=True) for seat in self.seats]

    def start(self, pair: str | None = None) -> None:
        """Let the places begin, with this pair."""
        self.pair = pair
        for thread in self.threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Put a job into the line. Raises LineFull."""
        if not self.seats:
            raise LineFull(NO_PLACE)
        job.fetching = self.must_fetch(job, self.seats)
        self.line.add(job)
        if job.fetching:
            self.fetcher.submit(self.fetch, job)

    def must_fetch(self, job: Job, seats: Sequence[Seat]) -> bool:
        """Whether the hub is to be asked for models that none of these places has loaded, nor are known to be here."""
        pair = job.work.pair
        known = job.sources is not None or any(seat.loaded == pair for seat in seats)
        return self.helper is not None and not known and needs_the_hub(pair)

    def fetch(self, job: Job) -> None:
        """Get the files of a job's models, on the fetcher's thread; then it waits in the line."""
        assert self.helper
        seat = Seat(start=self.helper, memory=self.seats[0].memory)
        try:
            work = Fetch(pair=job.work.pair, spare=seat.memory)
            self.do(seat, job, Order(next(self.numbers), work))
        finally:
            seat.discard()
            job.ready_by = None
            if job.sources is None or job.stop.is_set():
                self.end(job)
            else:
                self.line.come_back(job)

    def serve(self, seat: Seat) -> None:
        """What a place's thread does: one job after another."""
        while job := self.take(seat):
            try:
                if self.must_fetch(job, [seat]):
                    # Its pair was loaded when it came, and has made room for another one since.
                    job.fetching, job.taken = True, False
                    self.fetcher.submit(self.fetch, job)
                    continue
                self.do(seat, job, Order(next(self.numbers), job.work, job.sources))
                self.end(job)
            except PlaceGone as error:
                log.warning("%s", error)
                return self.leave_out(seat, job)
            except Exception:
                log.exception("a place's thread failed")
                seat.broken = isinstance(job.work, Load)
                seat.discard()
                job.fail(INTERNAL)
                self.end(job)
            finally:
                with self.line.changed:
                    seat.job, seat.alone, seat.status = None, Alone.NO, ""
                    self.line.changed.notify_all()
        seat.discard()

    def take(self, seat: Seat) -> Job | None:
        """The job that a free place is to do now, waited for; None when all ends."""
        with self.line.changed:
            while not self.closed:
                if job := self.next_for(seat):
                    job.taken, job.place, seat.job = True, seat.name, job
                    seat.alone = Alone.WANTED if job.work.alone else Alone.NO
                    return job
                self.line.changed.wait(LOOK)
        return None

    def next_for(self, seat: Seat) -> Job | None:
        """The next job, where this place may and should do it."""
        if any(other.alone is not Alone.NO for other in self.beside(seat)):
            return None
        if self.pair and not seat.broken and not seat.alive():
            return Job(work=Load(pair=self.pair))
        if not (job := self.line.first()):
            return None
        pair = job.work.pair
        free = [other for other in self.seats if other.job is None and other.loaded == pair and other.alive()]
        return None if free and seat not in free else job

    def beside(self, seat: Seat) -> list[Seat]:
        """The other places of a machine."""
        return [other for other in self.seats if other is not seat and other.machine == seat.machine]

    def granted(self, seat: Seat, *, idle: bool = False) -> bool:
        """Whether the machine is this place's alone from now on: not before all others there rest.

        idle: not even before they have ended their jobs.
        """
        with self.line.changed:
            if any(other.works or (idle and other.job) for other in self.beside(seat)):
                return False
            seat.alone = Alone.GRANTED
            return True

    def do(self, seat: Seat, job: Job, order: Order) -> None:
        """Let a place do an order, whose events the job takes; a death of the place is the job's error."""
        try:
            while seat.alone is Alone.WANTED and not self.granted(seat, idle=True):
                if job.stop.wait(GLANCE):
                    return
            job.ready_by = time.monotonic() + job.load_seconds
            if not seat.alive():
                seat.discard()
                seat.status = "Starting"
                seat.place = seat.start()
            self.follow(seat, job, order)
            seat.broken = False
        except PlaceGone:
            raise
        except PlaceDied as error:
            if not self.closed:
                log.warning("a place has ended: %s", error)
            seat.broken = isinstance(order.work, Load)
            seat.discard()
            job.fail(AGAIN.format(error))

    def follow(self, seat: Seat, job: Job, order: Order) -> None:
        """Give an order and take its events, until it ends, is stopped or has had its time. Raises PlaceDied."""
        assert seat.place
        place, halted, wanted = seat.place, None, False
        place.send(order)
        while True:
            event = place.receive(GLANCE)
            if halted is None and (reason := job.halted()):
                halted = time.monotonic()
                place.send(Halt(order.number, reason))
            if halted and time.monotonic() - halted > (ENDING if job.deadline else LETTING_GO):
                raise PlaceDied("The process that ran this did not stop, and was ended")
            if event and event["type"] == "done":
                return
            if event:
                self.note(seat, job, event)
                wanted = wanted or event["type"] == "quiet"
            if wanted and self.granted(seat):
                place.send(Quiet(order.number))
                wanted = False

    def note(self, seat: Seat, job: Job, event: dict) -> None:
        """Keep what an event says of the place; all else is the job's."""
        kind = event["type"]
        if kind == "loading":
            seat.status = job.progress = event["text"]
        elif kind == "ready":
            seat.loaded, seat.longest_prompt, seat.memory = event["pair"], event["longest_prompt"], event["memory"]
            seat.status, job.ready_by = "", None
        elif kind == "released":
            seat.loaded, seat.longest_prompt, seat.memory = None, None, {}
        elif kind == "fetched":
            job.sources = event["sources"]
        elif kind in ("quiet", "measured"):
            with self.line.changed:
                if not job.work.alone:
                    seat.alone = Alone.WANTED if kind == "quiet" else Alone.NO
                self.line.changed.notify_all()
        else:
            job.take(event)

    def leave_out(self, seat: Seat, job: Job) -> None:
        """Go on without a place whose machine has left; its job goes to another."""
        with self.line.changed:
            self.seats.remove(seat)
            self.line.places = len(self.seats)
            job.taken = False
            self.line.changed.notify_all()
            stranded = [] if self.seats else list(self.line.jobs)
        for job in stranded:
            job.fail(NO_PLACE)
            self.end(job)

    def leave(self, job: Job) -> None:
        """Stop a job; one that nobody deals with yet has ended with it."""
        job.stop.set()
        with self.line.changed:
            self.line.leave(job)
            if not job.taken and not job.fetching:
                job.end()

    def end(self, job: Job) -> None:
        """Take a job that has ended out of the line."""
        self.line.leave(job)
        job.end()

    def close(self) -> None:
        """End the jobs under way, the waiting ones and the places."""
        with self.line.changed:
            self.closed = True
            jobs = [*self.line.jobs, *(seat.job for seat in self.seats if seat.job)]
            self.line.changed.notify_all()
        for job in jobs:
            job.stop.set()
        self.fetcher.shutdown(wait=False, cancel_futures=True)
        last = time.monotonic() + CLOSING
        for thread in self.threads:
            if thread.ident:
                thread.join(max(0.0, last - time.monotonic()))
        for seat in self.seats:
            seat.discard()
        for job in jobs:
            self.end(job)

    def longest_prompt(self, pair: str) -> int | None:
        """How many characters a prompt may have; None where no place has loaded the pair."""
        return next((seat.longest_prompt for seat in self.seats if seat.loaded == pair), None)
