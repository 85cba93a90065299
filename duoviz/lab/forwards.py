"""Figure 1: drafting eight tokens beside verifying eight, at growing lengths of the text before them."""

from collections.abc import Callable, Iterator, Sequence

from duoviz.decoding.drafting import DraftPlan, DraftRequest
from duoviz.decoding.engine import Engine
from duoviz.decoding.forward import PREFILL_CHUNK, Stopped, timed_forward
from duoviz.decoding.settings import MAX_SEQUENCES
from duoviz.decoding.worker.protocol import DraftWorker
from duoviz.models.cores import on_cores
from duoviz.models.language_model import LanguageModel

TOKENS = 8
# Of --quick: reading 8,192 tokens takes minutes on two cores.
QUICK_LENGTH = 1024
QUICK_REPEATS, REPEATS = 5, 15


def lengths(limit: int) -> list[int]:
    """64, 128, 256, … and the longest that leaves room for the tokens after it."""
    longest = limit - TOKENS
    return [*(64 << n for n in range(20) if 64 << n < longest), longest]


def measure_forwards(
    engine: Engine, wanted: Sequence[int], repeats: int, *, stopped: Callable[[], bool] = bool
) -> Iterator[dict]:
    """For each length, in growing order: {"length", "draft": seconds of 8 steps, "target": of one forward of 8 tokens}.

    Both sides work at the same time, each on its own cores, as in an iteration of DuoDecoding; the
    first of the repeats is left out. Raises Stopped.
    """
    pair, draft = engine.pair, engine.draft(beside=True)
    with on_cores(pair.cores.target):
        pair.target.crop(0)
        for length in wanted:
            with engine.models():
                read_on(pair.target, draft, length, stopped=stopped)
                times = [both_sides(pair.target, draft, length) for _ in range(1 + repeats)][1:]
            yield {"length": length, "draft": [t[0] for t in times], "target": [t[1] for t in times]}
        pair.target.crop(0)


def read_on(target: LanguageModel, draft: DraftWorker, length: int, *, stopped: Callable[[], bool]) -> None:
    """Let both read until they hold `length` tokens. Raises Stopped."""
    for begin in range(target.length, length, PREFILL_CHUNK):
        if stopped():
            raise Stopped
        count = min(PREFILL_CHUNK, length - begin)
        ask(draft, crop=begin, tokens=count, budget=1)
        target.forward([0] * count, rows=[count - 1])
        draft.result()


def both_sides(target: LanguageModel, draft: DraftWorker, length: int) -> tuple[float, float]:
    """Seconds of drafting TOKENS tokens and of verifying as many, after `length` tokens."""
    ask(draft, crop=length - 1, tokens=1, budget=TOKENS)
    _, span = timed_forward(target, [0] * TOKENS)
    target.crop(length)
    return sum(step.seconds for step in draft.result().steps), span.seconds


def ask(draft: DraftWorker, *, crop: int, tokens: int, budget: int) -> None:
    """Let the draft read `tokens` tokens after the first `crop` and draft one sequence of `budget`."""
    plan = DraftPlan(budget, (budget,) * MAX_SEQUENCES, 1, "batched", budget)
    draft.submit(DraftRequest(None, crop, (0,) * tokens, plan))
