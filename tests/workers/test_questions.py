"""Questions shared out to workers: complete rows, each question in one worker, and what happens when a worker dies."""

import json

import pytest

from duoviz.errors import UserError
from duoviz.lab.bench import bench
from duoviz.lab.plan import make_plan
from duoviz.lab.report import write_report
from duoviz.lab.results import load, opened
from duoviz.lab.rows import key
from duoviz.lab.tasks import LabError
from duoviz.workers import handlers
from duoviz.workers.pool import Pool, WorkerSlot
from duoviz.workers.questions import shared_bench
from duoviz.workers.request_queue import UNBOUNDED, RequestQueue
from duoviz.workers.tasks import Answers
from tests.lab.asked import QUESTIONS
from tests.thread_workers import ThreadWorker, kill, nothing_to_fetch
from tests.tiny import tiny_engine


def plan_in(folder, *, tokens=8):
    file = folder / "question.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS[:4]))
    return make_plan(quick=True, file=file, methods=["vanilla", "duodecoding"], max_new_tokens=tokens)


@pytest.fixture
def plan(tmp_path):
    return plan_in(tmp_path)


@pytest.fixture
def make():
    pools = []

    def made(load=lambda name, progress, sources, *, draft: tiny_engine()):
        slots = [WorkerSlot(start=lambda: ThreadWorker(load), name=f"node {number}") for number in (1, 2)]
        pools.append(Pool(slots, RequestQueue(UNBOUNDED, 2)))
        pools[-1].start()
        return pools[-1]

    with nothing_to_fetch():
        yield made
        for pool in pools:
            pool.close()


def shared_and_alone(pool, plan, path):
    """The results of two workers and of one engine: nothing is missing, and what is held is not measured again."""
    with opened(path / "shared") as folder:
        progress = list(shared_bench(pool, "embedded", plan, folder))
        shared = load(folder.path)
        assert {each.done == each.total for each in shared_bench(pool, "embedded", plan, folder)} == {True}
    with opened(path / "alone") as folder:
        list(bench(tiny_engine(), plan, folder))
        alone = load(folder.path)
    assert progress[-1].done == progress[-1].total == len(shared.rows) == len(alone.rows) and not shared.failed
    assert {key(row) for row in shared.rows} == {key(row) for row in alone.rows}
    assert {row["verdict"] for row in shared.rows if row["model_id"] != "vanilla"} == {"equal"}
    # All answers to one question are of one worker, and each worker had some.
    assert len({(row["question_id"], row["place"]) for row in shared.rows}) == 4
    assert {row["place"] for row in shared.rows} == set(shared.environment["machines"])
    assert len(shared.environment["machines"]) == 2
    assert [row["length"] for row in shared.forwards] == [row["length"] for row in alone.forwards]
    return shared, alone


@pytest.mark.thorough
def test_each_question_is_answered_in_one_worker_and_nothing_is_missing(make, plan, tmp_path):
    shared, alone = shared_and_alone(make(), plan, tmp_path)
    texts = [{key(row): row["choices"][0]["turns"] for row in results.rows} for results in (shared, alone)]
    assert texts[0] == texts[1] and set(shared.environment["machines"]) == {"node 1", "node 2"}
    write_report(tmp_path, shared)
    assert "The questions were shared out to 2 places" in (tmp_path / "report.html").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize("times", [1, 2])
def test_a_question_whose_worker_dies_goes_to_another_and_fails_the_second_time(
    make, plan, tmp_path, monkeypatch, times
):
    left, answer_all = [None] * times, handlers.answer_all

    def dying(engine, task, cancelled):
        if left and task.answers[0].question.id == 2:
            left.pop()
            kill(next(slot.worker.worker for slot in pool.slots if slot.job.task.answers == task.answers))
        yield from answer_all(engine, task, cancelled)

    monkeypatch.setitem(handlers.HANDLERS, Answers, dying)
    pool = make()
    with opened(tmp_path / "shared") as folder:
        progress = list(shared_bench(pool, "embedded", plan, folder))
        shared = load(folder.path)
    assert progress[-1].done == progress[-1].total
    assert {row["question_id"] for row in shared.failed} == ({2} if times == 2 else set())
    assert {row["question_id"] for row in shared.rows} == ({1, 3, 4} if times == 2 else {1, 2, 3, 4})


def test_what_cannot_be_loaded_is_told(make, plan, tmp_path):
    def load(name, progress, sources, *, draft):
        raise UserError("The model is nowhere to be found.")

    with opened(tmp_path / "shared") as folder, pytest.raises(LabError, match="The model is nowhere to be found."):
        list(shared_bench(make(load), "embedded", plan, folder))
