"""The target's talk with itself: batched decoding, the parts of a row, duplicates, going on."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from duoviz.training import selfchat
from duoviz.training.corpus import load_corpus
from duoviz.training.selfchat import BatchedTarget, Format, Text, chat_format, gumbel, make_corpus, pack, write_texts

CHAT = Format(begin=[1, 40, 41], between=[42, 43], again=[44, 45], end=2)


class Letters:
    """A tokenizer whose tokens are 50 and 51."""

    def encode(self, text, add_special_tokens=False):
        return [50, 51][: 1 + len(text) % 2]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in {"QUESTION_TOKENS": 6, "ANSWER_TOKENS": 9, "CONTEXT": 60, "CANDIDATES": 8}.items():
        monkeypatch.setattr(selfchat, name, value)
    monkeypatch.setattr(selfchat, "chat_format", lambda tokenizer: CHAT)


def test_rows_have_question_and_answer_and_greedy_ones_are_the_targets_own(target):
    rows = list(write_texts(BatchedTarget(target, slots=3), Letters(), iter(range(14)), seed=3))
    assert sorted(text.row for text in rows) == list(range(14))
    for text in rows:
        assert text.ids[:3] == CHAT.begin and len(text.ids) == len(text.answer) < 60
        first = text.answer.index(1)
        assert text.ids[first - 2 : first] == CHAT.between
        if text.greedy:
            with torch.no_grad():
                best = target(torch.tensor([text.ids])).logits[0].argmax(-1).tolist()
            assert all(best[place - 1] == text.ids[place] for place, mine in enumerate(text.answer) if mine)
    assert {text.greedy for text in rows} == {True, False}
    # A row follows from its number and the seed, whatever is written beside it.
    alone, other = (
        next(write_texts(BatchedTarget(target, slots=1), Letters(), iter([4]), seed=seed)).ids for seed in (3, 2)
    )
    assert alone == next(text.ids for text in rows if text.row == 4) != other


def written(tokens, turns=1, opening=(50,)):
    """The row of a target that chooses these tokens: ids, answer, done."""
    text, tokens = Text(0, opening, CHAT, task="qa", greedy=True, turns=turns, key=7), list(tokens)
    while tokens and not text.done:
        text.went_on(tokens.pop(0) if text.fed + 1 == len(text.ids) else 0)
    return text.ids, text.answer, text.done


def test_a_second_turn_follows_an_ended_answer():
    ids, answer, done = written([7, 2, 8, 8, 2, 9, 2, 3, 2], turns=2)
    assert ids == [*CHAT.begin, 50, 7, 2, 43, 8, 8, 2, 44, 45, 9, 2, 43, 3, 2] and done
    assert [token for token, mine in zip(ids, answer, strict=True) if mine] == [8, 8, 2, 3, 2]


def test_parts_are_cut_at_their_limits():
    question, answer = [7] * 6, list(range(10, 19))
    ids, _, done = written([*question, *answer, 5, 5])  # neither ended of itself, and nothing follows
    assert ids == [*CHAT.begin, 50, *question, *CHAT.between, *answer] and done
    long = list(range(3, 55))
    ids, _, done = written([7] * 5, opening=long)
    assert ids == [*CHAT.begin, *long, *[7] * 4] and done
    # What is given next has no room.
    assert written([7, 7, 2], opening=long) == ([*CHAT.begin, *long, 7, 7, 2], [0] * 58, True)


@pytest.mark.parametrize(
    ("answer", "looped"),
    [([4, 5, 6] * 40, 80), (list(range(3, 33)) + [9] * 80, 91), (list(range(3, 53)) * 2, 0), ([4, 5, 6] * 26, 0)],
)
def test_an_answer_that_loops_is_ended(answer, looped, monkeypatch):
    monkeypatch.setattr(selfchat, "CONTEXT", 200)
    monkeypatch.setattr(selfchat, "ANSWER_TOKENS", 150)
    _, mine, done = written([7, 2, *answer])
    assert (done, sum(mine)) == ((True, looped) if looped else (False, len(answer)))


def test_noise_is_gumbels_and_follows_from_key_and_place():
    keys, places = torch.arange(200) * 7919, torch.arange(200)
    noise = gumbel(keys, places, 64)
    assert torch.equal(gumbel(keys[5:6], places[5:6], 64)[0], noise[5]) and len(noise.unique()) > 12_700
    assert abs(noise.mean() - 0.5772) < 0.05 and abs(noise.std() - 1.2825) < 0.05
    assert abs(np.corrcoef(noise.numpy()[:, :2].T)[0, 1]) < 0.3


def test_a_corpus_has_no_duplicates_and_can_be_read(tmp_path):
    rows = [
        {"row": 2, "task": "qa", "greedy": True, "ids": [1, 2, 3], "answer": [0, 1, 1]},
        {"row": 0, "task": "code", "greedy": False, "ids": [9, 2, 3], "answer": [0, 1, 1]},
        {"row": 1, "task": "rag", "greedy": False, "ids": [7, 7], "answer": [0, 0]},
        {"row": 3, "task": "qa", "greedy": True, "ids": [1, 2, 4], "answer": [0, 1, 1]},
    ]
    np.savez(tmp_path / "rows.npz", **pack(rows))
    found = [(row.ids.tolist(), row.task, row.greedy) for row in load_corpus([tmp_path / "rows.npz"], held_out=1)]
    assert found == [([9, 2, 3], "code", False), ([1, 2, 4], "qa", True)]


def test_a_stopped_corpus_goes_on(target_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda folder: Letters())
    out = tmp_path / "rows.npz"
    lines = out.with_suffix(".jsonl")
    make_corpus(target_folder, out, rows=6, minutes=0, slots=2, seed=5)
    first = lines.read_text()
    assert first.count("\n") == 1
    # A kill in the middle of a line.
    lines.write_text(first + '{"row": 5, "ids": [1, ')
    make_corpus(target_folder, out, rows=6, minutes=600, slots=2, seed=5)
    assert sorted(json.loads(line)["row"] for line in lines.read_text().splitlines()) == list(range(6))
    assert lines.read_text().startswith(first) and "answer tokens" in capsys.readouterr().out


def test_the_chat_template_is_taken_apart():
    def render(messages, tokenize, add_generation_prompt):
        text = "".join(f"<{m['role']}>{m['content']}</>" for m in messages)
        return text + "<assistant>" * add_generation_prompt

    tokenizer = SimpleNamespace(apply_chat_template=render, encode=lambda text, add_special_tokens: [text])
    pieces = chat_format(tokenizer)
    assert pieces.begin == ["<user>"] and pieces.between == ["</><assistant>"] and pieces.end == "</><user>"
