"""A whole run of the Lab on a tiny pair, and the questions it was asked."""

import json
import time

import pytest

from duoviz.decoding.iteration import Stopped
from duoviz.lab import bench as module
from duoviz.lab.bench import bench
from duoviz.lab.plan import make_plan
from duoviz.lab.report import write_report
from duoviz.lab.results import opened
from tests.tiny import tiny_pair

QUESTIONS = [
    {"question_id": 1, "category": "writing", "turns": ["tell me", "and now?"]},
    {"question_id": 2, "category": "translation", "turns": ["le chat"]},
    {"question_id": 3, "category": "math_reasoning", "turns": ["two and two"]},
    {"question_id": 4, "category": "code", "turns": ["def f(x):"]},
    {"question_id": 5, "category": "rag", "turns": ["what is it?"]},
    {"question_id": 6, "category": "math_reasoning", "turns": ["three and five"]},
    {"question_id": 7, "category": "qa", "turns": ["x" * 300]},
    {"question_id": 8, "category": "qa", "turns": []},
]
TOKENS = 12


def hold_after(count, monkeypatch):
    """Let the Lab wait, after so many answers, until it is stopped."""
    left, make = [None] * count, module.answer

    def answer(*arguments):
        if left:
            left.pop()
            return make(*arguments)
        *_, stopped = arguments
        while not stopped():
            time.sleep(0.01)
        raise Stopped

    monkeypatch.setattr(module, "answer", answer)


@pytest.fixture(scope="session")
def questions(tmp_path_factory):
    """A file of questions, of which 7 is longer than the tiny model's context and 8 is empty."""
    file = tmp_path_factory.mktemp("questions") / "question.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    return file


@pytest.fixture(scope="session")
def finished(questions, tmp_path_factory):
    """The folder of a run of everything, with its report."""
    path = tmp_path_factory.mktemp("lab") / "tiny"
    plan = make_plan(quick=True, file=questions, max_new_tokens=TOKENS)
    with opened(path) as folder:
        progress = list(bench(tiny_pair(), plan, folder))
        write_report(path, folder.load())
    assert progress[-1].done == progress[-1].total
    return path
