"""What the Lab is asked on a tiny pair, and how long it may take."""

import json
import time

from duoviz.decoding.forward import Stopped
from duoviz.lab import bench as module

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


def written(folder, questions=QUESTIONS):
    """A file of these questions."""
    file = folder / "question.jsonl"
    file.write_text("".join(json.dumps(question) + "\n" for question in questions))
    return file


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
