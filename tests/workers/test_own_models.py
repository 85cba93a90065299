"""Models of one's own that misbehave: their visitor has a sentence, and the next visitor's run goes on."""

import re
from functools import partial

import pytest

from duoviz.models import bounds
from duoviz.workers import pool as pool_module
from duoviz.workers.local import LocalWorker
from duoviz.workers.pool import WorkerSlot
from tests.models.hostile import PROMPT, hostile
from tests.until import has_ended, wait_until
from tests.workers.loads import last_of, own, pool_of, run_of

pytestmark = pytest.mark.thorough


def one_worker(*, seconds):
    """A pool of one worker, in which a text may take so many seconds of processor time."""
    return pool_of([WorkerSlot(start=partial(LocalWorker, load=partial(own, seconds=seconds)))])


def submitted(pool, pair):
    job = run_of("vanilla", PROMPT, pair=pair)
    pool.submit(job)
    return job


def hostile_pair(path, kind):
    return f"{(made := hostile(path / kind, kind))} + {made}"


@pytest.mark.parametrize(
    "kind, seconds, sentence",
    [
        ("a loop", 0.3, bounds.TOO_LONG),
        ("a product", 9999, "The chat template of .*it takes too much memory"),
        ("aborts", 9999, re.escape(bounds.KILLED.format(-6))),
    ],
    ids=["a loop", "a product", "aborts"],
)
def test_what_takes_too_much_is_ended_and_the_next_visitor_has_a_run(kind, seconds, sentence, tmp_path):
    with one_worker(seconds=seconds) as pool:
        lost, after = submitted(pool, hostile_pair(tmp_path, kind)), submitted(pool, "embedded")
        assert re.match(sentence, last_of(lost)["message"])
        assert last_of(after)["type"] == "end" and not after.error


def test_a_visitor_who_stops_a_template_that_never_ends_lets_the_worker_go(tmp_path, monkeypatch):
    monkeypatch.setattr(pool_module, "LETTING_GO", 0.5)
    monkeypatch.setattr(pool_module, "ENDING", float("inf"))
    with one_worker(seconds=9999) as pool:
        endless, after = submitted(pool, pair := hostile_pair(tmp_path, "a loop")), submitted(pool, "embedded")
        wait_until(lambda: pool.slots[0].loaded == pair)
        process = pool.slots[0].worker.process.pid
        endless.stop.set()
        assert last_of(after)["type"] == "end" and not after.error
        wait_until(lambda: has_ended(process))
