"""A lesson's file as it stands: front matter, pages and questions."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from duoviz.errors import UserError

FRONT_FIELDS = ("title", "summary", "trace", "live", "prompt", "watch")
PAGE_FIELDS = ("at", "trace", "highlight", "figure")
QUESTION_FIELDS = {
    "choose": ("answer", "right", "wrong"),
    "step": ("answer", "right", "wrong"),
    "click": ("answer", "right", "wrong"),
    "drag": ("answer", "within", "from", "to", "unit", "right", "low", "high"),
}
QUESTION = "### Question:"
FIELD = re.compile(r"([a-z]+):(?: +(.*))?$")
OPTION = re.compile(r"- (?:\[([ x])\] )?(.+)$")


class Mistake(UserError):
    """What is wrong in a lesson, as a sentence without a full stop; near: what its line holds."""

    def __init__(self, message: str, near: str = ""):
        super().__init__(message)
        self.near = near


class NotInTrace(LookupError):
    """The trace does not hold what a page shows; the message says what, as in "there is no …"."""


class LessonError(ValueError):
    """A mistake in a lesson's file; the message begins with file and line."""

    def __init__(self, file: Path, line: int, message: str):
        # The folder's name is enough to find it, and the same on every machine.
        super().__init__(f"{file.parent.name}/{file.name}:{line}: {message}.")


@contextmanager
def located(file: Path, lines: list[str], first: int = 1) -> Iterator[None]:
    """Give a mistake met inside its line: one of these, which begin with the file's line `first`."""
    try:
        yield
    except Mistake as mistake:
        line = next((number for number, line in enumerate(lines, first) if mistake.near in line), first)
        raise LessonError(file, line, str(mistake)) from None


def one_of(name: str, known: Collection[str], message: str, near: str) -> None:
    """Raise Mistake, which says what is known, unless the name is."""
    if name not in known:
        raise Mistake(f"{message}: choose one of {', '.join(known)}", near)


class Option(NamedTuple):
    """One answer to choose from; right: None where the question's `answer` says which one is."""

    text: str
    right: bool | None
    why: str


class Question(NamedTuple):
    """kind: one of QUESTION_FIELDS; text: what is asked; options: of a question to choose."""

    kind: str
    fields: dict[str, str]
    text: list[str]
    options: list[Option]

    def field(self, name: str) -> str:
        """A field that the question must have. Raises Mistake."""
        if name not in self.fields:
            raise Mistake(f'the question\'s field "{name}" is missing', QUESTION)
        return self.fields[name]


class Page(NamedTuple):
    """A page as written."""

    title: str
    fields: dict[str, str]
    text: list[str]
    question: Question | None


def read_lines(file: Path) -> list[str]:
    """The file's lines. Raises LessonError where it is not UTF-8 text."""
    try:
        return [line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()]
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise LessonError(file, line, "this is not UTF-8 text") from None


def sections(lines: list[str]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The lines before the first heading; each section's first line's number, and its lines."""
    starts = [index for index, line in enumerate(lines) if line.startswith("## ")]
    parts = [(at + 1, lines[at:end]) for at, end in zip(starts, [*starts, len(lines)][1:], strict=True)]
    return lines[: starts[0] if starts else None], parts


def read_front(lines: list[str]) -> dict[str, str]:
    """The fields of what stands before the first page. Raises Mistake."""
    if not lines or lines[0] != "---":
        raise Mistake('a lesson begins with a line "---", its fields and another "---"')
    if "---" not in lines[1:]:
        raise Mistake('the fields have no end; put a line "---" after them')
    end = lines.index("---", 1)
    if text := next(filter(None, lines[end + 1 :]), None):
        raise Mistake('text before the first page; a page begins with "## " and its title', text)
    fields = read_fields(filter(None, lines[1:end]), FRONT_FIELDS)
    for name in ("title", "summary", "trace"):
        if name not in fields:
            raise Mistake(f'the field "{name}" is missing')
    for name in {"title", "summary", "watch"} & fields.keys():
        refuse_placeholders(fields[name])
    return fields


def refuse_placeholders(text: str) -> None:
    """Raise Mistake for a brace in what stands in lists and headings, where no figure is filled in."""
    if set("{}") & set(text):
        message = "a title, a summary or what to watch has no placeholders, so no { or }; write the figure in the text"
        raise Mistake(message, text)


def read_fields(lines: Iterable[str], known: tuple[str, ...]) -> dict[str, str]:
    """Lines `name: value`. Raises Mistake where one is none, or unknown, or stands twice."""
    fields: dict[str, str] = {}
    for line in lines:
        match = FIELD.match(line)
        if not match:
            raise Mistake(f'"{line}" is not a field; a field is a name, ": " and its value', line)
        name, value = match.groups()
        one_of(name, known, f'there is no field "{name}" here', line)
        if name in fields:
            raise Mistake(f'the field "{name}" is used twice', line)
        if not value:
            raise Mistake(f'the field "{name}" is empty', line)
        fields[name] = value
    return fields


def under_heading(lines: list[str], known: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """The fields directly under a heading, up to the first empty line, and the lines after it."""
    end = lines.index("") if "" in lines else len(lines)
    return read_fields(lines[1:end], known), lines[end:]


def read_page(lines: list[str]) -> Page:
    """A page: its heading, its fields, its text, and at the end perhaps a question. Raises Mistake."""
    title = lines[0].removeprefix("## ").strip()
    refuse_placeholders(title)
    headings = [index for index, line in enumerate(lines) if line.startswith("#") and index]
    for index in headings:
        if not lines[index].startswith(QUESTION):
            raise Mistake('the only headings are "## TITLE" and "### Question: KIND" under it', lines[index])
    if len(headings) > 1:
        raise Mistake("this page has two questions; begin a new page", QUESTION)
    end = headings[0] if headings else len(lines)
    fields, text = under_heading(lines[:end], PAGE_FIELDS)
    return Page(title, fields, text, read_question(lines[end:]) if headings else None)


def read_question(lines: list[str]) -> Question:
    """A question: its kind, its fields, its text, and the options of one to choose. Raises Mistake."""
    kind = lines[0].removeprefix(QUESTION).strip()
    one_of(kind, QUESTION_FIELDS, f'there is no question of the kind "{kind}"', QUESTION)
    fields, rest = under_heading(lines, QUESTION_FIELDS[kind])
    starts = (index for index, line in enumerate(rest) if line.startswith("- "))
    first = next(starts, len(rest)) if kind == "choose" else len(rest)
    return Question(kind, fields, rest[:first], read_options(rest[first:]))


def read_options(lines: list[str]) -> list[Option]:
    """`- [x] TEXT` or `- [ ] TEXT`, each with its reason in indented lines; or `- TEXT` alone. Raises Mistake."""
    options: list[Option] = []
    for line in filter(None, lines):
        if match := OPTION.match(line):
            right = None if match[1] is None else match[1] == "x"
            options.append(Option(match[2].strip(), right, ""))
        elif options and line.startswith("  "):
            last = options.pop()
            options.append(last._replace(why=f"{last.why} {line.strip()}".strip()))
        else:
            raise Mistake('after the answers there can only be answers ("- [ ] …")', line)
    return options
