"""The target's talk with itself: the parts of a row, duplicates, going on; and files that are read as one corpus."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from duoviz.training import corpus as files
from duoviz.training import selfchat
from duoviz.training.__main__ import main
from duoviz.training.corpus import Row, load_corpus, most_frequent, read_rows, save_rows, whole_texts
from duoviz.training.selfchat import Format, chat_format, write_texts

CHAT = Format(begin=[1, 40, 41], between=[42, 43], again=[44, 45], end=2)


class Letters:
    """A tokenizer whose tokens are 50 and 51."""

    def encode(self, text, add_special_tokens=False):
        return [50, 51][: 1 + len(text) % 2]


@pytest.fixture
def small(monkeypatch):
    for name, value in {"QUESTION_TOKENS": 6, "ANSWER_TOKENS": 9, "CANDIDATES": 8}.items():
        monkeypatch.setattr(selfchat, name, value)
    monkeypatch.setattr(selfchat, "chat_format", lambda tokenizer: CHAT)
    monkeypatch.setattr(selfchat.AutoTokenizer, "from_pretrained", lambda folder: Letters())


def test_rows_have_question_and_answer_and_greedy_ones_are_the_targets_own(target, small):
    rows = write_texts(target, Letters(), range(14), seed=3)
    assert {row.greedy for row in rows} == {True, False}
    for row in rows:
        ids, first = row.ids.tolist(), row.places[0]
        assert ids[:3] == CHAT.begin and ids[first - 2 : first] in (CHAT.between, [CHAT.end, 43])
        if row.greedy:
            with torch.no_grad():
                best = target(torch.tensor([ids])).logits[0].argmax(-1).numpy()
            assert (best[row.places - 1] == row.ids[row.places]).all()
    # Rows follow from their numbers and the seed.
    again, others = ([row.ids.tolist() for row in write_texts(target, Letters(), range(14), seed=n)] for n in (3, 2))
    assert [row.ids.tolist() for row in rows] == again != others


class Script:
    """A target that writes these texts, one a call."""

    device = "cpu"

    def __init__(self, *texts):
        self.texts = list(texts)

    def generate(self, ids, **options):
        return torch.cat([ids, torch.tensor([self.texts.pop(0)])], dim=1)


def test_a_second_turn_follows_an_ended_answer(small):
    (row,) = write_texts(Script([7, 2], [8, 8, 2], [9, 2, 0], [3, 2]), Letters(), [0], seed=3)
    begin = row.ids.tolist().index(7)
    assert row.ids[begin:].tolist() == [7, 2, 43, 8, 8, 2, 44, 45, 9, 2, 43, 3, 2]
    assert row.ids[row.places].tolist() == [8, 8, 2, 3, 2]
    # Of a question or an answer that was cut the rest is given, and nothing follows.
    (row,) = write_texts(Script([7, 7], [8, 8]), Letters(), [0], seed=3)
    assert row.ids[begin:].tolist() == [7, 7, 42, 43, 8, 8]


def test_a_stopped_corpus_goes_on_and_has_no_duplicates(tmp_path, small, capsys, monkeypatch):
    arguments = ["corpus", "--out", str(out := tmp_path / "rows.npz"), "--rows", "6", "--slots", "2", "--seed", "5"]
    assert main([*arguments, "--minutes", "1e-9"]) == 0
    first = read_rows(out)
    assert len(first) == 2 and "answer tokens" in capsys.readouterr().out
    written = []

    def write(target, tokenizer, numbers, *, seed):
        written.append((list(numbers), seed))
        # One has the answers of an earlier row, one none, and one new ones.
        new = [Row(np.array([9, *first[0].ids]), True, first[0].places + 1), Row(np.array([7]), True)]
        return [*new, Row(np.array([1, len(written)]), False, np.array([1]))]

    monkeypatch.setattr(selfchat, "write_texts", write)
    assert main(arguments) == 0 and written == [([2, 3], 5), ([4, 5], 5)]
    whole = read_rows(out)
    assert [row.ids.tolist() for row in whole] == [*(row.ids.tolist() for row in first), [1, 1], [1, 2]]
    assert [row.answer for row in whole[:2]] == [row.answer for row in first] and whole[3].places.tolist() == [1]
    assert [row.greedy for row in whole[2:]] == [False, False]
    # When all rows are there, the call writes none.
    assert main(arguments) == 0 and len(written) == 2


def test_the_chat_template_is_taken_apart():
    def render(messages, tokenize, add_generation_prompt):
        text = "".join(f"<{m['role']}>{m['content']}</>" for m in messages)
        return text + "<assistant>" * add_generation_prompt

    tokenizer = SimpleNamespace(apply_chat_template=render, encode=lambda text, add_special_tokens: [text])
    pieces = chat_format(tokenizer)
    assert pieces.begin == ["<user>"] and pieces.between == ["</><assistant>"] and pieces.end == "</><user>"


def test_files_become_one_corpus_with_held_out_rows_of_each(corpus):
    assert [number for number, row in enumerate(corpus) if row.held_out] == [*range(160, 200), *range(320, 360)]
    row = corpus[205]
    assert row.places[0] == 4 and 7 not in row.places


def test_a_row_with_a_held_out_rows_answers_is_not_trained_on(corpus_files, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "HELD_OUT", 1)
    first, *rows = read_rows(corpus_files[0])
    # The first row once more at the end, after another question.
    save_rows(
        tmp_path / "more.npz", [first, *rows, Row(np.append(first.ids[0] + 1, first.ids[1:]), True, first.places)]
    )
    more = load_corpus([corpus_files[1], tmp_path / "more.npz"])
    assert [number for number, row in enumerate(more) if row.held_out] == [159, 160, 360]


def test_a_whole_corpus_leaves_out_what_every_row_begins_with(corpus):
    # The first token has nothing before it.
    assert whole_texts(corpus)[0].places.tolist() == list(range(1, len(corpus[0].ids)))
    for row in corpus:
        row.ids[:3] = 7, 8, 9
    corpus[5].ids[2] = 1
    assert all(row.places.tolist() == list(range(2, len(row.ids))) for row in whole_texts(corpus))


def test_the_most_frequent_ids_are_ascending_and_of_equals_the_lowest(corpus):
    for row in corpus:
        row.ids = row.ids % 2 * 40
    corpus[0].ids[:3] = 33
    assert most_frequent(corpus, 3).tolist() == [0, 33, 40] and most_frequent(corpus, 5).tolist() == [0, 1, 2, 33, 40]
