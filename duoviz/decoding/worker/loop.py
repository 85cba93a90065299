"""What the draft does with a request, wherever it runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np
import torch
from torch import Tensor

from duoviz.decoding.drafting import DraftResult, draft
from duoviz.decoding.duotree.draft_side import DraftSide
from duoviz.decoding.duotree.policy import steady_width
from duoviz.decoding.duotree.tree import Expansion
from duoviz.decoding.forward import Stopped, timed_forward, timed_prefill
from duoviz.decoding.sampling import DraftNotFinite
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.decoding.worker.requests import (
    Answer,
    DraftRequest,
    EnoughRequest,
    ExpandRequest,
    MeasureRequest,
    PauseRequest,
    Request,
    RowRequest,
)
from duoviz.models.cores import Cores, on_cores
from duoviz.models.language_model import LanguageModel
from duoviz.models.pair import LoadDraft


class DraftLoop:
    """A draft model, and what it keeps from one request to the next."""

    def __init__(self, model: LanguageModel):
        self.model = model
        # What the last DraftRequest gave, and the tree of the last ExpandRequest that began a run.
        self.drafted: DraftResult
        self.side: DraftSide
        self.pending_rows: list[Tensor] = []

    def answers(self, request: Request, waits: Callable[[], bool]) -> Iterator[Answer]:
        """The answers to a request; all but the last are `Expansion`.

        waits: whether another request is there. Nobody reads what is measured then, so that is broken off; a tree and
        sequences grow no further.
        """
        if isinstance(request, ExpandRequest):
            self.move(request)
            yield from self.steps(request, waits)
            yield None
        elif isinstance(request, PauseRequest):
            yield None
        elif not isinstance(request, EnoughRequest):
            yield self.handle(request, stopped=waits if isinstance(request, MeasureRequest) else bool, enough=waits)

    def move(self, request: ExpandRequest) -> None:
        if request.config:
            self.side = DraftSide(self.model, request.config)
        self.side.tree.recalibration = request.recalibration
        self.side.move(request.tokens)

    def steps(self, request: ExpandRequest, waits: Callable[[], bool]) -> Iterator[Expansion]:
        """A tree's steps as long as one is worth it and no other request is there."""
        while not waits() and (width := steady_width(self.side.tree, request.draft_seconds)):
            yield self.side.step(width)

    def handle(
        self, request: Request, *, stopped: Callable[[], bool] = bool, enough: Callable[[], bool] = bool
    ) -> Answer:
        """Raises Stopped where `stopped` says so while a long context is read, or steps are timed."""
        if isinstance(request, MeasureRequest):
            return measure_steps(self.model, context=request.context, seconds=request.seconds, stopped=stopped)
        if isinstance(request, RowRequest):
            return self.row(request.row).double().numpy()
        assert isinstance(request, DraftRequest)
        self.roll_back(request)
        self.drafted = draft(self.model, request.new_tokens, request.plan, stopped=stopped, enough=enough)
        return replace(self.drafted, sequences=[replace(sequence, rows=[]) for sequence in self.drafted.sequences])

    def roll_back(self, request: DraftRequest) -> None:
        """Leave in the cache what belongs to the new context, and the pending tokens' rows."""
        sequence = self.drafted.sequences[request.keep] if request.keep is not None else None
        self.pending_rows = sequence.rows[1 : request.kept + 1] if sequence else []
        if sequence and request.kept:
            self.model.keep(sequence.slots[: request.kept])
        else:
            self.model.crop(request.crop)

    def row(self, row: int) -> Tensor:
        """See RowRequest: the first sequence's first row is the one that all first tokens share."""
        return [*self.pending_rows, *self.drafted.sequences[0].rows][row]


def measure_steps(
    model: LanguageModel, *, context: int, seconds: float, stopped: Callable[[], bool] = bool
) -> dict[int, float]:
    """Median seconds of one draft step with k = 1..8 rows after `context` tokens; repeats for `seconds`.

    A model that knows no trees drafts one sequence, so its one-row step stands for every k. A model
    with a shorter context is measured at the end of it. Raises Stopped where `stopped` says so.
    """
    counts = range(1, MAX_SEQUENCES + 1) if model.supports_tree else [1]
    context = min(context, model.context_limit - 1)
    model.crop(0)
    timed_prefill(model, [0] * context, stopped=stopped)
    times: dict[int, list[float]] = {k: [] for k in counts}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[1]) < 3:
        for k, taken in times.items():
            if stopped():
                raise Stopped
            logits, span = timed_forward(model, [0] * k, parents=[context - 1] * k)
            logits.softmax(-1).max(-1)
            taken.append(time.perf_counter() - span.start)
            model.crop(context)
    model.crop(0)
    medians = {k: sorted(taken)[len(taken) // 2] for k, taken in times.items()}
    return {k: medians.get(k, medians[1]) for k in range(1, MAX_SEQUENCES + 1)}


def serve(pipe: Connection, load: LoadDraft, cores: Cores, busy: np.ndarray) -> None:
    """Load the model, then answer requests until the pipe closes; what goes wrong is answered in a text.

    busy: int64 [1], for others to see whether this works; who asks sets it, too.

    Where another program takes the draft's core, the draft goes on with one of the target's, which waits for it.
    """
    with (
        on_cores(cores.all, threads=len(cores.draft)),
        torch.inference_mode(),
        suppress(EOFError, OSError, KeyboardInterrupt),
    ):
        try:
            loop = DraftLoop(load())
        except Exception as error:
            return pipe.send(reason_of(error))
        pipe.send("")
        while True:
            try:
                request = pipe.recv()
                busy[0] = True
                for answer in loop.answers(request, pipe.poll):
                    pipe.send(answer)
            except (EOFError, OSError):
                raise
            except DraftNotFinite as error:
                pipe.send(error)
            except Exception as error:
                pipe.send(reason_of(error))
            busy[0] = False


def reason_of(error: Exception) -> str:
    """What went wrong, fit for the middle of a sentence."""
    return str(error).rstrip(".") or type(error).__name__
