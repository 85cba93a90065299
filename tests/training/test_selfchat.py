"""The target's talk with itself: batched decoding, the parts of a row, duplicates, going on."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from duoviz.training import selfchat
from duoviz.training.batched_target import BatchedTarget
from duoviz.training.corpus import load_corpus
from duoviz.training.openings import OPENINGS, TASKS, opening
from duoviz.training.selfchat import Format, Slots, Start, chat_format, gumbel, make_corpus, pack, write_texts

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


def batched(target, slots=3):
    return BatchedTarget(target, slots=slots, context=60)


def test_batched_decoding_is_the_targets_own(target):
    batch = batched(target, slots=2)
    texts = [[5, 9, 3, 7, 7, 1], [8, 2, 2, 4]]
    for place in range(6):
        # The second text begins two steps later, over what its slot held before.
        ids, positions = [texts[0][place], texts[1][max(0, place - 2)]], [place, max(0, place - 2)]
        logits = batch.step(torch.tensor(ids), torch.tensor(positions))
    with torch.no_grad():
        for slot, text in enumerate(texts):
            assert torch.allclose(logits[slot], target(torch.tensor([text])).logits[0, -1], atol=1e-4)


def test_rows_have_question_and_answer_and_greedy_ones_are_greedy(target):
    rows = list(write_texts(batched(target), Letters(), iter(range(14)), seed=3))
    assert sorted(text.row for text in rows) == list(range(14))
    for text in rows:
        assert text.ids[:3] == CHAT.begin and len(text.ids) == len(text.answer) < 60
        first = text.answer.index(True)
        assert text.ids[first - 2 : first] == CHAT.between and sum(text.answer) >= 1
        if text.greedy:
            with torch.no_grad():
                best = target(torch.tensor([text.ids])).logits[0].argmax(-1).tolist()
            assert all(best[place - 1] == text.ids[place] for place, mine in enumerate(text.answer) if mine)
    assert {text.greedy for text in rows} == {True, False}


def test_a_rows_text_follows_from_seed_and_number(target):
    texts = {text.row: text.ids for text in write_texts(batched(target), Letters(), iter(range(6)), seed=1)}
    alone = {text.row: text.ids for text in write_texts(batched(target, slots=1), Letters(), iter([4]), seed=1)}
    other = {text.row: text.ids for text in write_texts(batched(target, slots=1), Letters(), iter([4]), seed=2)}
    assert alone[4] == texts[4] != other[4]


class Scripted:
    """A target that wants these tokens, one a step, whatever it is given."""

    def __init__(self, tokens):
        self.tokens, self.device = iter(tokens), torch.device("cpu")
        self.slots = torch.arange(1)

    def step(self, ids, positions):
        return F.one_hot(torch.tensor([next(self.tokens)]), 64) * 1000.0


def written(tokens, turns=1, opening=(50,)):
    """The row that a target writes which wants these tokens, one a step, given ones included: ids, answer, done."""
    slots = Slots(Scripted(tokens), CHAT)
    slots.start([0], [Start(0, "qa", True, turns, list(opening), 7)])
    for _ in tokens:
        slots.step()
    return *slots.taken([0])[0], bool(slots.done)


def test_a_second_turn_follows_an_ended_answer():
    ids, answer, done = written([0, 7, 2, 0, 8, 8, 2, 0, 0, 9, 2, 0, 3, 2], turns=2)
    assert ids == [*CHAT.begin, 50, 7, 2, 43, 8, 8, 2, 44, 45, 9, 2, 43, 3, 2] and done
    assert [token for token, mine in zip(ids, answer, strict=True) if mine] == [8, 8, 2, 3, 2]


def test_parts_are_cut_at_their_limits():
    question, answer = [7] * 6, list(range(10, 19))
    ids, _, done = written([0, *question, 0, 0, *answer, 5, 5])  # neither ended of itself, and nothing follows
    assert ids == [*CHAT.begin, 50, *question, *CHAT.between, *answer] and done
    long = list(range(3, 55))
    ids, _, done = written([0] * 52 + [7] * 4, opening=long)
    assert ids == [*CHAT.begin, *long, *[7] * 4] and done
    assert written([0] * 52 + [7, 7, 2], opening=long)[2] and not written([0] * 52 + [7, 7, 7], opening=long)[2]


@pytest.mark.parametrize(
    ("answer", "looped"),
    [([4, 5, 6] * 40, 80), (list(range(3, 33)) + [9] * 80, 91), (list(range(3, 53)) * 2, 0), ([4, 5, 6] * 26, 0)],
)
def test_an_answer_that_loops_is_ended(answer, looped, monkeypatch):
    monkeypatch.setattr(selfchat, "CONTEXT", 200)
    monkeypatch.setattr(selfchat, "ANSWER_TOKENS", 150)
    _, mine, done = written([0, 7, 2, 0, *answer])
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
    corpus = load_corpus([tmp_path / "rows.npz"], held_out=1)
    assert [corpus.row(row).tolist() for row in range(len(corpus))] == [[9, 2, 3], [1, 2, 4]]
    assert corpus.task.tolist() == ["code", "qa"] and corpus.greedy.tolist() == [False, True]


def test_a_stopped_corpus_goes_on(target_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda folder: Letters())
    out, lines = tmp_path / "rows.npz", []
    options = {"slots": 2, "seed": 5, "report": lines.append}
    make_corpus(target_folder, out, rows=6, minutes=0, **options)
    first = out.with_suffix(".jsonl").read_text()
    assert first.count("\n") == 1
    # A kill in the middle of a line.
    out.with_suffix(".jsonl").write_text(first + '{"row": 5, "ids": [1, ')
    make_corpus(target_folder, out, rows=6, minutes=600, **options)
    written = [json.loads(line)["row"] for line in out.with_suffix(".jsonl").read_text().splitlines()]
    assert sorted(written) == list(range(6)) and out.with_suffix(".jsonl").read_text().startswith(first)
    assert "answer tokens" in lines[-1]


def test_openings_cover_the_seven_tasks():
    assert TASKS == ("mt_bench", "translation", "summarization", "qa", "math_reasoning", "rag", "code")
    for task in TASKS:
        some = {opening(np.random.default_rng(seed), task) for seed in range(60)}
        assert len(some) >= min(12, len(OPENINGS[task])) and not any("{" in text for text in some)


def test_the_chat_template_is_taken_apart():
    def render(messages, tokenize, add_generation_prompt):
        text = "".join(f"<{m['role']}>{m['content']}</>" for m in messages)
        return text + "<assistant>" * add_generation_prompt

    tokenizer = SimpleNamespace(apply_chat_template=render, encode=lambda text, add_special_tokens: [text])
    pieces = chat_format(tokenizer)
    assert pieces.begin == ["<user>"] and pieces.between == ["</><assistant>"] and pieces.end == "</><user>"
