"""The seven tasks, and questions from files in Spec-Bench's format or HumanEval's."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from duoviz.models.embedded import ASSETS

PROMPTS = ASSETS / "prompts"

# Each task's name in tables, in the order of the paper's Table 1.
TASKS = {
    "mt_bench": "MT-Bench",
    "translation": "Translation",
    "summarization": "Summarization",
    "qa": "Question answering",
    "math_reasoning": "Math",
    "rag": "Retrieval",
    "code": "Code",
}
# MT-Bench's questions come in categories of their own.
MT_BENCH = {"writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"}
# Tasks with answers of a few words, which the paper cuts at 32 tokens.
SHORT_TASKS = {"qa", "rag"}
SHORT_ANSWER = 32


class LabError(ValueError):
    """The Lab cannot do what was asked; the message is a sentence for the user."""


@dataclass(frozen=True)
class Question:
    """What a user says in one conversation, turn after turn; `category` as in its file."""

    id: int | str
    category: str
    turns: tuple[str, ...]

    @property
    def task(self) -> str:
        return "mt_bench" if self.category in MT_BENCH else self.category


def task_name(task: str) -> str:
    """What tables call a task; one that is not of the seven keeps its file's name."""
    return TASKS.get(task, task)


def in_order(tasks: Iterable[str]) -> list[str]:
    """Each task once: the seven as the paper has them, then others as they come."""
    found = list(dict.fromkeys(tasks))
    return [task for task in TASKS if task in found] + [task for task in found if task not in TASKS]


def own_questions(tasks: Sequence[str]) -> list[Question]:
    """The prompts that come along, of these tasks. Raises LabError for a task that is none."""
    for task in tasks:
        if task not in TASKS:
            raise LabError(f"There is no task named {task!r}; there are: {', '.join(TASKS)}.")
    return [question for task in in_order(tasks) for question in read_questions(PROMPTS / f"{task}.jsonl")]


def read_questions(file: Path) -> list[Question]:
    """The questions of a .jsonl file: Spec-Bench's (`turns`) or HumanEval's (`prompt`). Raises LabError.

    A question whose turns are empty is none of the file's mistakes: it fails when its turn comes.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise LabError(f"The questions cannot be read: {error.strerror}: {file}.") from error
    except UnicodeDecodeError as error:
        raise LabError(f"{file} is no text file in UTF-8.") from error
    found = [question_of(line, f"{file}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise LabError(f"There are no questions in {file}.")
    ids = [question.id for question in found]
    if len(set(ids)) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise LabError(f"{file} has two questions with the id {twice!r}.")
    return found


def question_of(line: str, where: str) -> Question:
    """One line of a file of questions. Raises LabError, which says `where`."""
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise LabError(f"{where}: this is not JSON.") from error
    if not isinstance(entry, dict):
        entry = {}
    if "task_id" in entry and "prompt" in entry:
        entry = {"question_id": entry["task_id"], "category": "code", "turns": [entry["prompt"]]}
    id, category, turns = (entry.get(name) for name in ("question_id", "category", "turns"))
    if not (isinstance(id, int | str) and isinstance(category, str) and is_list_of_texts(turns)):
        raise LabError(
            f"{where}: a question is a JSON object with question_id, category and a list of turns, "
            "or, as in HumanEval, with task_id and prompt."
        )
    return Question(id, category, tuple(turns))


def is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
