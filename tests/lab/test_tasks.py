"""Questions: the ones that come along, and files in Spec-Bench's and HumanEval's formats."""

import json

import pytest

from duoviz.lab.tasks import TASKS, LabError, own_questions, read_questions


def test_each_task_has_twelve_prompts_of_ours_in_spec_benchs_format():
    questions = own_questions(list(TASKS))
    assert [task for task in TASKS if sum(q.task == task for q in questions) < 12] == []
    assert len({question.id for question in questions}) == len(questions)
    assert all(all(turn.strip() for turn in question.turns) for question in questions)
    assert {len(question.turns) for question in questions if question.task == "mt_bench"} == {2}


def test_humaneval_and_spec_bench_are_read_as_they_are(tmp_path):
    file = tmp_path / "HumanEval.jsonl"
    lines = [
        {"task_id": "HumanEval/0", "prompt": "def f():\n", "entry_point": "f", "canonical_solution": "", "test": ""},
        {"question_id": 81, "category": "roleplay", "turns": ["a", "b"], "reference": ["x", "y"]},
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    code, chat = read_questions(file)
    assert (code.id, code.task, code.turns) == ("HumanEval/0", "code", ("def f():\n",))
    assert (chat.id, chat.task, chat.turns) == (81, "mt_bench", ("a", "b"))


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("", "There are no questions in"),
        ("{", "line 1: this is not JSON"),
        ("[]", "line 1: a question is a JSON object with question_id, category and a list of turns"),
        ('{"question_id": 1, "category": "qa", "turns": "a"}', "line 1: a question is"),
        ('{"question_id": 1, "category": "qa", "turns": [1]}', "line 1: a question is"),
        ('{"question_id": 1, "category": "qa", "turns": []}\n' * 2, "two questions with the id 1"),
    ],
)
def test_other_files_are_refused_in_one_sentence(content, sentence, tmp_path):
    file = tmp_path / "question.jsonl"
    file.write_text(content)
    with pytest.raises(LabError, match=sentence):
        read_questions(file)
    with pytest.raises(LabError, match="cannot be read"):
        read_questions(tmp_path / "nowhere.jsonl")
