"""Places as actors of a real Ray cluster of this machine."""

import json

import psutil
import pytest

from duoviz.decoding.settings import SettingsError
from duoviz.lab.bench import bench
from duoviz.lab.plan import make_plan
from duoviz.lab.results import load, opened
from duoviz.lab.rows import key
from duoviz.places import ray as ray_module
from duoviz.places.line import UNBOUNDED, Line
from duoviz.places.pool import Pool
from duoviz.places.questions import shared_bench
from duoviz.places.ray import seats_of
from tests.lab.asked import QUESTIONS
from tests.places.loads import run_of, tiny
from tests.places.test_local import begun, last_of, texts
from tests.tiny import tiny_engine
from tests.until import wait_until

pytestmark = [pytest.mark.thorough, pytest.mark.ray]


@pytest.fixture(scope="module")
def pool():
    ray = pytest.importorskip("ray")
    if psutil.cpu_count() < 2:
        pytest.skip("two places need two cores")
    seats = seats_of("local", "2", tiny)
    pool = Pool(seats, Line(UNBOUNDED, len(seats)), helper=None)
    pool.start("embedded")
    yield pool
    pool.close()
    ray.shutdown()


@pytest.fixture(autouse=True)
def both_loaded(request):
    if "pool" in request.fixturenames:
        pool = request.getfixturevalue("pool")
        wait_until(lambda: all(seat.loaded and seat.alive() and not seat.job for seat in pool.seats))


def test_two_places_stream_at_once_one_is_stopped_and_one_killed(pool):
    stopped, lost = run_of("endless"), run_of("endless")
    _, seat = begun(pool, stopped, lost)
    assert len({seat.name for seat in pool.seats}) == 2 and len({seat.machine for seat in pool.seats}) == 1
    stopped.stop.set()
    assert last_of(stopped)["end"]["stopped"] == "stopped" and not lost.future.done()
    prompts = ["tell me", "and now", "once more"]
    jobs = [run_of(prompt=prompt) for prompt in prompts]
    for job in jobs:
        pool.submit(job)
    wait_until(lambda: jobs[0].deadline)
    seat.place.ray.kill(seat.place.actor)
    assert last_of(lost)["message"].endswith("was lost. Start the run again; other runs go on.")
    assert [last_of(job)["end"]["text"] for job in jobs] == texts(prompts)


def test_a_run_of_the_lab_shares_out_its_questions(pool, tmp_path):
    file = tmp_path / "question.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS[:4]))
    plan = make_plan(quick=True, file=file, methods=["vanilla", "duodecoding"], max_new_tokens=24)
    with opened(tmp_path / "shared") as folder:
        progress = list(shared_bench(pool, "embedded", plan, folder))
        shared = load(folder.path)
    with opened(tmp_path / "alone") as folder:
        list(bench(tiny_engine(), plan, folder))
        alone = load(folder.path)
    assert progress[-1].done == progress[-1].total == len(alone.rows)
    assert {key(row) for row in shared.rows} == {key(row) for row in alone.rows} and not shared.failed
    assert {row["verdict"] for row in shared.rows if row["model_id"] != "vanilla"} == {"equal"}
    # All answers to one question are of one place, and each place had some.
    places = {(row["question_id"], row["place"]) for row in shared.rows}
    assert len(places) == 4 and {place for _, place in places} == set(shared.environment["machines"])
    assert len(shared.environment["machines"]) == 2 and shared.forwards
    # What is held is not measured again.
    with opened(tmp_path / "shared") as folder:
        assert [each.total for each in shared_bench(pool, "embedded", plan, folder)] == [0]


def test_without_ray_or_a_cluster_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(SettingsError, match=r"needs? Ray|pip install \.\[cluster\]"):
        ray_module.connect("local")
