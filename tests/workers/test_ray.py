"""Workers as actors of a real Ray cluster of this machine."""

import os
from functools import partial

import psutil
import pytest

from duoviz.errors import UserError
from duoviz.workers import ray as ray_module
from duoviz.workers.ray import cluster_slots
from tests.tiny import tiny_engine
from tests.until import wait_until
from tests.workers.loads import last_of, pool_of, run_of, running, texts, tiny

pytestmark = [pytest.mark.thorough, pytest.mark.ray]


@pytest.fixture(scope="module")
def started():
    ray = pytest.importorskip("ray")
    if psutil.cpu_count() < 2:
        pytest.skip("two places need two cores")
    slots = cluster_slots("local", "2", partial(tiny, make=tiny_engine))
    with pool_of(slots, "embedded") as pool:
        yield pool
    ray.shutdown()


@pytest.fixture
def pool(started):
    """Its workers, which are loaded and free."""
    wait_until(lambda: all(slot.loaded and slot.alive() and not slot.job for slot in started.slots))
    return started


def test_two_workers_stream_at_once_one_is_stopped_and_one_killed(pool):
    stopped, lost = run_of("endless"), run_of("endless")
    _, slot = running(pool, stopped, lost)
    assert len(pool.slots) == 2 and len({slot.machine for slot in pool.slots}) == 1
    # A worker does not give way to other work.
    actors = [child for child in psutil.Process().children(recursive=True) if child.name().startswith("ray::Actor")]
    assert actors and {actor.nice() for actor in actors} == {os.nice(0)}
    stopped.stop.set()
    assert last_of(stopped)["end"]["stopped"] == "stopped" and not lost.future.done()
    prompts = ["tell me", "and now", "once more"]
    jobs = [run_of(prompt=prompt) for prompt in prompts]
    for job in jobs:
        pool.submit(job)
    wait_until(lambda: jobs[0].begun)
    slot.worker.ray.kill(slot.worker.actor)
    assert last_of(lost)["message"].endswith("was lost. Start the run again; other runs go on.")
    assert [last_of(job)["end"]["text"] for job in jobs] == texts(prompts)


def test_without_ray_or_a_cluster_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(UserError, match=r"needs? Ray|pip install \.\[cluster\]"):
        ray_module.connect("local")
