"""The engine: a loaded pair, and what is kept with it from one run to the next."""

import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from inspect import GEN_RUNNING, getgeneratorstate
from pathlib import Path

from duoviz.decoding.calibration import calibrate, costs_file, recall_costs, remember_costs
from duoviz.decoding.costs import Costs
from duoviz.decoding.datastore import DATASTORE_FOLDER, Datastore, open_datastore
from duoviz.decoding.placement import Placement
from duoviz.decoding.rounding import delta_of, readings
from duoviz.decoding.worker.process import ProcessDraft
from duoviz.decoding.worker.protocol import DraftWorker, InlineDraft
from duoviz.errors import UserError
from duoviz.models.cache import measuring
from duoviz.models.cores import on_cores
from duoviz.models.language_model import compile_leading
from duoviz.models.load import prepare_pair
from duoviz.models.pair import Pair
from duoviz.models.progress import Progress, no_progress
from duoviz.models.team import borrowing

# Switch cores if a forward on the others takes less than this share of the time.
CLEARLY = 0.95
BUSY = "The engine is busy with another run: let that one end first, or load another engine."
ENDED = "This run was ended: another one has begun on its engine, or the engine was closed. Start the run again."


class Engine:
    """A pair with its drafts, costs, datastores and δ, for one run at a time.

    draft_beside: the draft in a process of its own, once started; draft_in_turn: the one in this process.
    """

    def __init__(self, pair: Pair, *, draft: ProcessDraft | None = None):
        self.pair, self.draft_beside = pair, draft
        # The run under way, and the lock of the thread that computes.
        self.under_way: Generator[dict] | None = None
        self.lock = threading.RLock()
        self.draft_in_turn: InlineDraft | None = None
        self.kept_costs: dict[Placement, Costs] = {}
        self.datastores: dict[Path, Datastore] = {}
        self.delta: float | None = None
        # Context manager held while measuring; a worker replaces it by one that waits for an idle machine.
        self.measuring = measuring
        # The last result of `alone`.
        self.taken: Placement | None = None
        compile_leading()

    def one_run(self, events: Generator[dict]) -> Generator[dict]:
        """The events of a run. An earlier run that is suspended ends; its next step raises UserError.

        Raises UserError where the earlier one is computing (in another thread or around this call).
        """
        with self.models():
            if self.under_way:
                raise UserError(BUSY)
            self.under_way = events
        try:
            while event := self.step(events):
                yield event
        finally:
            if self.under_way is events:
                with suppress(UserError), self.models():
                    pass

    def step(self, events: Generator[dict]) -> dict | None:
        with self.computing():
            if self.under_way is not events:
                raise UserError(ENDED)
            return next(events, None)

    @contextmanager
    def models(self) -> Iterator[None]:
        """Use the models, in a run's step or for something else; a suspended run ends. Raises UserError."""
        with self.computing():
            if self.under_way and getgeneratorstate(self.under_way) != GEN_RUNNING:
                run, self.under_way = self.under_way, None
                run.close()
            yield

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Compute while no other thread does. Raises UserError."""
        if not self.lock.acquire(blocking=False):
            raise UserError(BUSY)
        try:
            yield
        finally:
            self.lock.release()

    def draft(self, *, beside: bool) -> DraftWorker:
        """The draft of that kind, loaded and ready; started now if none is running. Raises DraftDied."""
        pair = self.pair
        if not beside:
            if self.draft_in_turn is None:
                device = pair.target.device
                options = {} if device == "cpu" else {"device": device, "precision": pair.target.precision}
                self.draft_in_turn = InlineDraft(pair.draft.load(**options))
            return self.draft_in_turn
        if self.draft_beside is not None and not self.draft_beside.alive():
            self.draft_beside.close()
            self.draft_beside = None
        if self.draft_beside is None:
            self.draft_beside = ProcessDraft(pair.draft.load, pair.cores)
        self.draft_beside.wait_until_started()
        return self.draft_beside

    def costs(self, placement: Placement) -> Costs:
        """Both models' costs in a placement, as learnt so far, here or in an earlier process."""
        if placement not in self.kept_costs:
            self.kept_costs[placement] = recall_costs(costs_file(self.pair, placement))
        return self.kept_costs[placement]

    def known_costs(self, placement: Placement, *, stopped: Callable[[], bool] = bool) -> Costs:
        """A placement's costs; measured now if the draft has not run in it. Raises DraftDied, Stopped."""
        costs = self.costs(placement)
        if not costs.draft.count:
            self.calibrate(placement, stopped=stopped)
        return costs

    def calibrate(self, placement: Placement, *, stopped: Callable[[], bool] = bool) -> None:
        """Time one forward of each kind, for half a second. Raises DraftDied, Stopped."""
        draft = self.draft(beside=placement.beside)
        lending = borrowing(placement.borrowed, draft.busy) if placement.borrowed else nullcontext()
        with self.models(), self.measuring(stopped=stopped), on_cores(placement.cores), lending:
            beside = placement.beside and not placement.borrowed
            calibrate(self.pair.target, draft, self.costs(placement), beside=beside, stopped=stopped)
        self.keep_costs(placement)

    def renew_costs(self, placement: Placement, *, stopped: Callable[[], bool] = bool) -> None:
        """Measure a placement's costs again, where they are outdated. Raises DraftDied, Stopped."""
        if self.costs(placement).outdated:
            self.kept_costs[placement] = Costs()
            self.calibrate(placement, stopped=stopped)

    def keep_costs(self, placement: Placement) -> None:
        """Write a placement's costs for later processes."""
        remember_costs(costs_file(self.pair, placement), self.costs(placement))

    def alone(self) -> Placement:
        """The faster placement now for a one-row forward of a target that works alone or in turn with its draft."""
        cores = self.pair.cores
        both = Placement(False, cores.all), Placement(False, cores.target)
        placements = [placement for placement in both if self.costs(placement).target.count]
        seconds = {placement: self.costs(placement).target.one_row for placement in placements}
        now = self.taken or Placement(False, cores.all)
        best = min(seconds, key=lambda placement: seconds[placement], default=now)
        if now in seconds and self.pair.target.device == "cpu" and seconds[best] < CLEARLY * seconds[now]:
            now = best
        self.taken = now
        return now

    def datastore(self, name: str) -> Datastore:
        """REST's datastore in a folder, "" for the one that comes along. Raises UserError."""
        folder = Path(os.path.expanduser(name)) if name else DATASTORE_FOLDER
        if folder not in self.datastores:
            self.datastores[folder] = open_datastore(folder, self.pair)
        return self.datastores[folder]

    def rounding_delta(self, ids: list[int]) -> float:
        """δ of the target on this machine, over both sets of cores; measured once, on this text."""
        if self.delta is None:
            logits = []
            for cores in {self.pair.cores.all, self.pair.cores.target}:
                with self.models(), on_cores(cores):
                    logits += readings(self.pair.target, ids)
            self.delta = delta_of(logits, self.pair.target.precision)
        return self.delta

    def close(self) -> None:
        """End the draft's process and a suspended run; a later run starts another draft."""
        with suppress(UserError), self.models():
            pass
        if self.draft_beside is not None:
            self.draft_beside.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def load_engine(name: str = "embedded", progress: Progress = no_progress, *, draft: bool = False) -> Engine:
    """Load a pair of the registry, or any two models named as "TARGET + DRAFT".

    draft: start the draft's process at once, so that both load at the same time; else the first run that needs it
    does. An exception raised by `progress` ends the loading. Raises UserError.
    """
    source, cores, load_rest = prepare_pair(name, progress)
    started = ProcessDraft(source.load, cores) if draft else None
    try:
        return Engine(load_rest(), draft=started)
    except BaseException:
        if started:
            started.close()
        raise
