"""Questions: the ones that come along, and files in Spec-Bench's and HumanEval's formats."""

import json
import re

import pytest

from duoviz.errors import UserError
from duoviz.lab.tasks import TASKS, own_questions, read_questions


def test_each_task_has_twelve_prompts_of_ours_in_spec_benchs_format():
    questions = own_questions(list(TASKS))
    assert [task for task in TASKS if sum(q.task == task for q in questions) < 12] == []
    assert len({question.id for question in questions}) == len(questions)
    assert all(all(turn.strip() for turn in question.turns) for question in questions)
    assert {len(question.turns) for question in questions if question.task == "mt_bench"} == {2}


def test_lines_end_where_json_lets_them(tmp_path):
    file = tmp_path / "question.jsonl"
    # Other signs that end a line may stand in a text.
    file.write_text('{"question_id": 1, "category": "qa", "turns": ["a\u2028b\x85c"]}\r\n \n', encoding="utf-8")
    assert [question.turns for question in read_questions(file)] == [("a\u2028b\x85c",)]


def test_humaneval_and_spec_bench_are_read_as_they_are(tmp_path):
    file = tmp_path / "HumanEval.jsonl"
    lines = [
        {"task_id": "HumanEval/0", "prompt": "def f():\n", "entry_point": "f", "canonical_solution": "", "test": ""},
        {"question_id": 81, "category": "roleplay", "turns": ["a", "b"], "reference": ["x", "y"]},
    ]
    file.write_text("\n".join(map(json.dumps, [*lines, {"prompt": "a", "category": "mine"}])) + "\n\n")
    code, chat, other = read_questions(file)
    assert (code.id, code.task, code.turns) == ("HumanEval/0", "code", ("def f():\n",))
    assert (chat.id, chat.task, chat.turns) == (81, "mt_bench", ("a", "b"))
    assert (other.id, other.task, other.turns) == (3, "mine", ("a",))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_line_of_a_text_is_a_question(tmp_path, mark):
    file = tmp_path / "prompts.txt"
    file.write_bytes(mark + "[1] Größe?\n\n two\r\n".encode())
    assert [(q.id, q.task, q.turns) for q in read_questions(file)] == [
        (1, "prompts", ("[1] Größe?",)),
        (3, "prompts", ("two",)),
    ]
    file.write_bytes(mark + b'\n{"turns": ["a", "b"]}')
    assert [(q.id, q.turns) for q in read_questions(file)] == [(2, ("a", "b"))]
    file.write_bytes("one\n".encode("utf-16"))
    with pytest.raises(UserError, match="has a line 1 that is no text in UTF-8: save it as UTF-8"):
        read_questions(file)


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("", "has no questions"),
        ("{", "has a line 1 that is not JSON"),
        ("[]", "line 1: a question is a JSON object with a list of turns or a prompt"),
        ('{"question_id": 1, "category": "qa", "turns": "a"}', "line 1: a question is"),
        ('{"question_id": 1, "category": "qa", "turns": [1]}', "line 1: a question is"),
        ('{"question_id": 1, "category": "qa", "turns": []}\n' * 2, "two questions with the id 1"),
        ('{"prompt": [1]}', "line 1: a question is"),
        ('{"question_id": true, "category": "qa", "turns": []}', "line 1: a question is"),
        (f'{{"question_id": {10**16}, "category": "qa", "turns": []}}', "line 1: a question is"),
        (f'{{"question_id": "{"x" * 201}", "category": "qa", "turns": []}}', "line 1: a question is"),
        (f'{{"question_id": 1, "category": "{"x" * 201}", "turns": []}}', "names of at most 200 characters"),
        (
            "".join(f'{{"question_id": {n}, "category": "{n}", "turns": []}}\n' for n in range(51)),
            "has questions of more than 50 categories",
        ),
        ('\n\n{"question_id": 1, "time": NaN}', "has a line 3 that is not JSON (unexpected character"),
        (
            r'{"question_id": 1, "category": "qa", "turns": ["\ud800"]}',
            "has a line 1 that has an invalid character (an unpaired surrogate)",
        ),
        ("x" * 10_000_001, "question.jsonl has a line of more than 10,000,000 bytes"),
    ],
)
def test_other_files_are_refused_in_one_sentence(content, sentence, tmp_path):
    file = tmp_path / "question.jsonl"
    file.write_text(content)
    with pytest.raises(UserError, match=re.escape(sentence)):
        read_questions(file)
    with pytest.raises(UserError, match="cannot be read"):
        read_questions(tmp_path / "nowhere.jsonl")
