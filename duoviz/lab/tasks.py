"""The seven tasks, and questions from files in Spec-Bench's format or HumanEval's."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft4Validator

from duoviz.decoding.settings import MAX_WHOLE
from duoviz.errors import UserError
from duoviz.folders import ASSETS
from duoviz.outside import Reader, Refused, open_file, wrong_field

PROMPTS = ASSETS / "prompts"

# Each task's name in tables, in the order of the paper's Table 1.
TASKS = {
    "mt_bench": "MT-Bench-like",
    "translation": "Translation",
    "summarization": "Summarization",
    "qa": "Question answering",
    "math_reasoning": "Math",
    "rag": "Retrieval",
    "code": "Code",
}
ALL_TASKS = "All tasks"
# Of questions that have none.
NO_CATEGORY = "prompts"
# MT-Bench's questions come in categories of their own.
MT_BENCH = {"writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"}
# Characters of a name, and bytes of a question: a text of many times what a model reads.
MAX_NAME, LINE_BYTES = 200, 10_000_000
NAME = {"type": "string", "maxLength": MAX_NAME}
# What tells a question from others, in a file and in a table.
ID = {"type": ["integer", "string"], "minimum": -MAX_WHOLE, "maximum": MAX_WHOLE, "maxLength": MAX_NAME}
TURNS = {"type": "array", "items": {"type": "string"}}
QUESTION = Draft4Validator({"required": ["turns"], "properties": {"question_id": ID, "category": NAME, "turns": TURNS}})
# What tables and figures grow with.
MAX_TASKS = 50
# Tasks with answers of a few words, which the paper cuts at 32 tokens.
SHORT_TASKS = {"qa", "rag"}
SHORT_ANSWER = 32


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
    wanted = list(dict.fromkeys(tasks))
    return [task for task in TASKS if task in wanted] + [task for task in wanted if task not in TASKS]


def with_all(tasks: Sequence[str]) -> dict[str, list[str]]:
    """All tasks together and then each alone, by what tables call them."""
    return {ALL_TASKS: list(tasks)} | {task_name(task): [task] for task in tasks}


def own_questions(tasks: Sequence[str]) -> list[Question]:
    """The prompts that come along, of these tasks; of all where none is named. Raises UserError for an unknown task."""
    for task in tasks:
        if task not in TASKS:
            raise UserError(f"There is no task named {task!r}: choose one of {', '.join(TASKS)}.")
    return [question for task in in_order(tasks or TASKS) for question in read_questions(PROMPTS / f"{task}.jsonl")]


def questions_in(file: Path) -> list[Question]:
    """The questions of a file: Spec-Bench's (`turns`), HumanEval's (`prompt`), or one a line of text. Raises UserError.

    A question whose turns are empty is none of the file's mistakes: it fails when its turn comes.
    """
    reader = Reader(most_bytes=LINE_BYTES, most_values=inf)
    try:
        with open_file(file) as content:
            is_json = file.suffix == ".jsonl" or content.peek(1).removeprefix(BOM_UTF8).lstrip()[:1] == b"{"
            entries = reader.values(content) if is_json else text_entries(reader.lines(content))
            questions = [question_of(entry, number, file) for number, entry in entries]
    except OSError as error:
        raise UserError(f"The questions cannot be read: {error.strerror}: {file}.") from error
    except Refused as error:
        raise UserError(f"{file} {error}.") from error
    if not questions:
        raise UserError(f"{file} has no questions.")
    return questions


def text_entries(lines: Iterable[bytes]) -> Iterator[tuple[int, dict]]:
    """(number, from 1, and question) of each line of a text that is not blank. Raises Refused."""
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode().strip()
        except UnicodeDecodeError as error:
            raise Refused(f"has a line {number} that is no text in UTF-8: save it as UTF-8") from error
        if text:
            yield number, {"turns": [text]}


def read_questions(file: Path) -> list[Question]:
    """See `questions_in`: those that can stand in tables, each by its id. Raises UserError."""
    questions = questions_in(file)
    if len({question.task for question in questions}) > MAX_TASKS:
        raise UserError(f"{file} has questions of more than {MAX_TASKS} categories: use at most {MAX_TASKS}.")
    if twice := [id for id, count in Counter(question.id for question in questions).items() if count > 1]:
        raise UserError(f"{file} has two questions with the id {twice[0]!r}.")
    return questions


def question_of(entry: object, number: int, file: Path) -> Question:
    """The question that the value of a file's line of this number is, which is its id where it has none.

    Raises UserError.
    """
    question: Any = entry
    if isinstance(entry, dict) and "turns" not in entry:
        humaneval = {"question_id": entry["task_id"], "category": "code"} if "task_id" in entry else {}
        question = {**entry, **humaneval, "turns": [entry.get("prompt")]}
    if not isinstance(entry, dict) or wrong_field(QUESTION, question) is not None:
        raise UserError(
            f"{file}, line {number}: a question is a JSON object with a list of turns or a prompt, and may have a "
            f"question_id and a category; names of at most {MAX_NAME} characters."
        )
    id, category = question.get("question_id", number), question.get("category", NO_CATEGORY)
    return Question(id, category, tuple(question["turns"]))
