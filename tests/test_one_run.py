"""An engine does one run at a time, whoever wants another."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice

import pytest

from duoviz import UserError, runner
from duoviz.decoding import METHODS
from duoviz.decoding.placement import Placement
from duoviz.decoding.settings import Settings
from tests.decoding.small_draft import ThreadDraft, load
from tests.tiny import tiny_engine

SETTINGS = Settings(max_new_tokens=24)
PROMPTS = "hello", "the other one"
# REST would need a datastore.
RUNS = [(method, SETTINGS) for method in METHODS if method != "rest"]
RUNS += [("duotree", Settings(max_new_tokens=24, overlap="beside"))]
# What uses an engine's models.
USES = {
    "a run": lambda engine: next(runner.stream(engine, "vanilla", PROMPTS[1], SETTINGS)),
    "a calibration": lambda engine: engine.calibrate(Placement(False, engine.pair.cores.all)),
    "rounding": lambda engine: engine.rounding_delta([1, 2, 3]),
}


def begun(engine, method="vanilla", settings=SETTINGS, **options):
    """A run that is suspended after a few events."""
    run = runner.stream(engine, method, PROMPTS[0], settings, **options)
    assert len(list(islice(run, 4))) == 4
    return run


def text(run):
    trace = runner.collect(run)
    assert trace["end"]["stopped"] == "length"
    return trace["end"]["text"]


@pytest.fixture(scope="module")
def expected():
    return {prompt: text(runner.stream(tiny_engine(), "vanilla", prompt, SETTINGS)) for prompt in PROMPTS}


@pytest.fixture
def engine():
    """The draft beside the target works on its own."""
    with tiny_engine() as engine:
        engine.draft_beside = ThreadDraft(load, engine.pair.cores)
        yield engine


def test_a_run_that_begins_ends_the_one_that_is_suspended(engine, expected):
    pairs = (zip(RUNS, RUNS[shift:] + RUNS[:shift], strict=True) for shift in (0, 1, 3))
    for (first, its), (second, others) in chain(*pairs):
        suspended = begun(engine, first, its)
        assert text(runner.stream(engine, second, PROMPTS[1], others)) == expected[PROMPTS[1]], (first, second)
        with pytest.raises(UserError, match=r"^This run was ended: [^.]*\. Start the run again\.$"):
            next(suspended)
        assert not list(suspended)


def test_a_run_that_has_not_begun_ends_none_and_is_not_ended(engine, expected):
    later = runner.stream(engine, "duodecoding", PROMPTS[0], SETTINGS)
    assert text(runner.stream(engine, "vanilla", PROMPTS[1], SETTINGS)) == expected[PROMPTS[1]]
    assert text(later) == expected[PROMPTS[0]]


@pytest.mark.parametrize("use", USES)
def test_who_comes_while_a_run_computes_in_another_thread_is_told(expected, use):
    engine, computes, go_on = tiny_engine(), threading.Event(), threading.Event()

    def hold():
        computes.set()
        return not go_on.wait(120)

    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(text, runner.stream(engine, "duotree", PROMPTS[0], SETTINGS, stopped=hold))
        assert computes.wait(120)
        with pytest.raises(UserError, match=r"^The engine is busy with another run: .* load another engine\.$"):
            USES[use](engine)
        go_on.set()
        assert run.result() == expected[PROMPTS[0]]


@pytest.mark.parametrize("use", USES)
def test_what_uses_the_models_ends_a_suspended_run(engine, use):
    suspended = begun(engine, "duodecoding")
    USES[use](engine)
    with pytest.raises(UserError):
        next(suspended)


@pytest.mark.parametrize("end", ["finished", "closed", "dropped", "failed"])
def test_a_run_that_is_over_leaves_the_engine_free(engine, end):
    failing = []
    run = begun(engine, "duotree", stopped=lambda: failing and 1 / 0)
    assert engine.under_way
    if end == "finished":
        text(run)
    elif end == "closed":
        run.close()
    elif end == "dropped":
        del run
        gc.collect()
    else:
        failing.append(True)
        with pytest.raises(ZeroDivisionError):
            next(run)
    assert not engine.under_way


def test_a_closed_engine_ends_its_suspended_run_and_does_another(engine, expected):
    suspended = begun(engine, "duodecoding")
    engine.close()
    assert not engine.draft_beside.alive()
    with pytest.raises(UserError, match="or the engine was closed"):
        next(suspended)
    engine.draft_beside = ThreadDraft(load, engine.pair.cores)
    assert text(runner.stream(engine, "duodecoding", PROMPTS[0], SETTINGS)) == expected[PROMPTS[0]]
