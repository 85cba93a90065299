"""The target's talk with itself: the parts of a row, duplicates, going on."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from duoviz.training import selfchat
from duoviz.training.corpus import load_corpus
from duoviz.training.selfchat import Format, chat_format, looping, make_corpus, pack, write_texts

CHAT = Format(begin=[1, 40, 41], between=[42, 43], again=[44, 45], end=2)


class Letters:
    """A tokenizer whose tokens are 50 and 51."""

    def encode(self, text, add_special_tokens=False):
        return [50, 51][: 1 + len(text) % 2]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in {"QUESTION_TOKENS": 6, "ANSWER_TOKENS": 9, "CANDIDATES": 8}.items():
        monkeypatch.setattr(selfchat, name, value)
    monkeypatch.setattr(selfchat, "chat_format", lambda tokenizer: CHAT)


def test_rows_have_question_and_answer_and_greedy_ones_are_the_targets_own(target):
    rows = write_texts(target, Letters(), range(14), seed=3)
    assert [text.row for text in rows] == list(range(14)) and {text.greedy for text in rows} == {True, False}
    for text in rows:
        first = text.answer.index(1)
        assert text.ids[:3] == CHAT.begin and text.ids[first - 2 : first] in (CHAT.between, [CHAT.end, 43])
        assert len(text.ids) == len(text.answer)
        if text.greedy:
            with torch.no_grad():
                best = target(torch.tensor([text.ids])).logits[0].argmax(-1).tolist()
            assert all(best[place - 1] == text.ids[place] for place, mine in enumerate(text.answer) if mine)
    # Rows follow from their numbers and the seed.
    assert (
        rows == write_texts(target, Letters(), range(14), seed=3) != write_texts(target, Letters(), range(14), seed=2)
    )


class Script:
    """A target that writes these texts, one a call."""

    device = "cpu"

    def __init__(self, *texts):
        self.texts = list(texts)

    def generate(self, ids, **options):
        return torch.cat([ids, torch.tensor([self.texts.pop(0)])], dim=1)


def test_a_second_turn_follows_an_ended_answer():
    (text,) = write_texts(Script([7, 2], [8, 8, 2], [9, 2, 0], [3, 2]), Letters(), [0], seed=3)
    begin = text.ids.index(7)
    assert text.ids[begin:] == [7, 2, 43, 8, 8, 2, 44, 45, 9, 2, 43, 3, 2]
    assert [token for token, mine in zip(text.ids, text.answer, strict=True) if mine] == [8, 8, 2, 3, 2]
    # Of a question or an answer that was cut the rest is given, and nothing follows.
    (text,) = write_texts(Script([7, 7], [8, 8]), Letters(), [0], seed=3)
    assert text.ids[begin:] == [7, 7, 42, 43, 8, 8]


@pytest.mark.parametrize(
    ("answer", "looped"),
    [([4, 5, 6] * 27, True), ([*range(3, 33)] + [9] * 61, True), ([*range(3, 53)] * 2, False), ([4, 5] * 30, False)],
)
def test_what_is_a_loop(answer, looped):
    assert looping(torch.tensor([answer]), None).tolist() == [looped]


def test_a_text_that_loops_is_ended(target, monkeypatch):
    monkeypatch.setattr(selfchat, "loops", lambda ids: True)
    assert [sum(text.answer) for text in write_texts(target, Letters(), range(1, 4), seed=3)] == [1, 1, 1]


def test_a_corpus_has_no_duplicates_and_can_be_read(tmp_path):
    rows = [
        {"row": 2, "greedy": True, "ids": [1, 2, 3], "answer": [0, 1, 1]},
        {"row": 0, "greedy": False, "ids": [9, 2, 3], "answer": [0, 1, 1]},
        {"row": 1, "greedy": False, "ids": [7, 7], "answer": [0, 0]},
        {"row": 3, "greedy": True, "ids": [1, 2, 4], "answer": [0, 1, 1]},
    ]
    np.savez(tmp_path / "rows.npz", **pack(rows))
    found = [(row.ids.tolist(), row.greedy) for row in load_corpus([tmp_path / "rows.npz"], held_out=1)]
    assert found == [([9, 2, 3], False), ([1, 2, 4], True)]


def test_a_stopped_corpus_goes_on(target_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda folder: Letters())
    out = tmp_path / "rows.npz"
    lines = out.with_suffix(".jsonl")
    make_corpus(target_folder, out, rows=6, minutes=0, slots=2, seed=5)
    first = lines.read_text()
    assert first.count("\n") == 2
    # A kill in the middle of a line.
    lines.write_text(first + '{"row": 5, "ids": [1, ')
    make_corpus(target_folder, out, rows=6, minutes=600, slots=2, seed=5)
    assert [json.loads(line)["row"] for line in lines.read_text().splitlines()] == list(range(6))
    assert lines.read_text().startswith(first) and "answer tokens" in capsys.readouterr().out


def test_the_chat_template_is_taken_apart():
    def render(messages, tokenize, add_generation_prompt):
        text = "".join(f"<{m['role']}>{m['content']}</>" for m in messages)
        return text + "<assistant>" * add_generation_prompt

    tokenizer = SimpleNamespace(apply_chat_template=render, encode=lambda text, add_special_tokens: [text])
    pieces = chat_format(tokenizer)
    assert pieces.begin == ["<user>"] and pieces.between == ["</><assistant>"] and pieces.end == "</><user>"
