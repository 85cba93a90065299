"""A lesson's file as it stands: front matter, pages and questions, each with its line."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

FRONT_FIELDS = ("title", "summary", "trace", "live", "prompt", "watch")
PAGE_FIELDS = ("at", "trace", "highlight", "figure")
QUESTION_FIELDS = {
    "choose": ("answer", "right", "wrong"),
    "step": ("answer", "right", "wrong"),
    "click": ("answer", "right", "wrong"),
    "drag": ("answer", "within", "from", "to", "unit", "right", "low", "high"),
}
FIELD = re.compile(r"([a-z][a-z ]*):(?: +(.*))?$")
OPTION = re.compile(r"- (?:\[([ x])\] )?(.+)$")


class LessonError(ValueError):
    """A mistake in a lesson's file; the message begins with file and line."""

    def __init__(self, file: Path, line: int, message: str):
        # The folder's name is enough to find it, and the same on every machine.
        super().__init__(f"{file.parent.name}/{file.name}:{line}: {message}")


class Line(NamedTuple):
    """One line of a file; numbers count from 1."""

    number: int
    text: str


class Option(NamedTuple):
    """One answer to choose from; right: None where the question's `answer` says which one is."""

    line: int
    text: str
    right: bool | None
    why: str


@dataclass
class Fields:
    """`name: value` lines, each value with its line; `line` is the line of what they belong to."""

    line: int
    values: dict[str, Line] = field(default_factory=dict)

    def get(self, name: str) -> Line | None:
        return self.values.get(name)


@dataclass
class Question:
    """kind: one of QUESTION_FIELDS; text: what is asked; options: of a question to choose."""

    kind: str
    fields: Fields
    text: list[Line]
    options: list[Option]


@dataclass
class Page:
    """A page as written."""

    title: Line
    fields: Fields
    text: list[Line]
    question: Question | None


@dataclass
class Source:
    """A lesson as written: nothing in it has been looked up in a trace."""

    file: Path
    front: Fields
    pages: list[Page]

    def mistake(self, line: int, message: str) -> LessonError:
        return LessonError(self.file, line, message)


def read_lines(file: Path) -> list[Line]:
    """The file's lines. Raises LessonError where it is not UTF-8 text."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise LessonError(file, line, "this is not UTF-8 text.") from None
    return [Line(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]


def read_source(file: Path) -> Source:
    """Take a lesson's file apart. Raises LessonError."""
    lines = read_lines(file)
    front, rest = read_front(file, lines)
    starts = [index for index, line in enumerate(rest) if line.text.startswith("## ")]
    before = rest[: starts[0]] if starts else rest
    for line in before:
        if line.text:
            raise LessonError(file, line.number, 'text before the first page; a page begins with "## " and its title.')
    if not starts:
        raise LessonError(file, front.line, 'the lesson has no page; a page begins with "## " and its title.')
    ends = [*starts[1:], len(rest)]
    pages = [read_page(file, rest[start:end]) for start, end in zip(starts, ends, strict=True)]
    return Source(file, front, pages)


def read_front(file: Path, lines: list[Line]) -> tuple[Fields, list[Line]]:
    """The fields between the two `---`, and the lines after them."""
    if not lines or lines[0].text != "---":
        raise LessonError(file, 1, 'a lesson begins with a line "---", its fields and another "---".')
    end = next((index for index, line in enumerate(lines[1:], 1) if line.text == "---"), None)
    if end is None:
        raise LessonError(file, 1, 'the fields have no end; put a line "---" after them.')
    fields = Fields(1)
    for line in lines[1:end]:
        if line.text:
            add_field(file, fields, line, FRONT_FIELDS)
    for name in ("title", "summary", "trace"):
        if name not in fields.values:
            raise LessonError(file, 1, f'the field "{name}" is missing.')
    for name in ("title", "summary", "watch"):
        if name in fields.values:
            refuse_placeholders(file, fields.values[name])
    return fields, lines[end + 1 :]


def refuse_placeholders(file: Path, line: Line) -> None:
    """Raise LessonError for a brace in what stands in lists and headings, where no figure is filled in."""
    if set("{}") & set(line.text):
        raise LessonError(
            file,
            line.number,
            "a title, a summary or what to watch has no placeholders, so no { or }; write the figure in the text.",
        )


def add_field(file: Path, fields: Fields, line: Line, known: tuple[str, ...]) -> None:
    """Add one `name: value` line. Raises LessonError where it is none, or unknown, or stands twice."""
    match = FIELD.match(line.text)
    if not match:
        raise LessonError(file, line.number, f'"{line.text}" is not a field; a field is a name, ": " and its value.')
    name, value = match[1], (match[2] or "").strip()
    if name not in known:
        raise LessonError(file, line.number, f'there is no field "{name}" here: choose one of {", ".join(known)}.')
    if name in fields.values:
        raise LessonError(file, line.number, f'the field "{name}" is used twice.')
    if not value:
        raise LessonError(file, line.number, f'the field "{name}" is empty.')
    fields.values[name] = Line(line.number, value)


def read_fields(file: Path, line: int, lines: list[Line], known: tuple[str, ...]) -> tuple[Fields, list[Line]]:
    """The fields directly under a heading, up to the first empty line, and the lines after it."""
    fields = Fields(line)
    for index, entry in enumerate(lines):
        if not entry.text:
            return fields, lines[index:]
        add_field(file, fields, entry, known)
    return fields, []


def read_page(file: Path, lines: list[Line]) -> Page:
    """A page: its heading, its fields, its text, and at the end perhaps a question."""
    title = Line(lines[0].number, lines[0].text.removeprefix("## ").strip())
    refuse_placeholders(file, title)
    headings = [index for index, line in enumerate(lines) if line.text.startswith("#") and index]
    for index in headings:
        if not lines[index].text.startswith("### Question:"):
            raise LessonError(
                file, lines[index].number, 'the only headings are "## TITLE" and "### Question: KIND" under it.'
            )
    if len(headings) > 1:
        raise LessonError(file, lines[headings[1]].number, "this page has a question already; begin a new page.")
    end = headings[0] if headings else len(lines)
    fields, text = read_fields(file, title.number, lines[1:end], PAGE_FIELDS)
    return Page(title, fields, text, read_question(file, lines[end:]) if headings else None)


def read_question(file: Path, lines: list[Line]) -> Question:
    """A question: its kind, its fields, its text, and the options of one to choose. Raises LessonError."""
    kind = lines[0].text.removeprefix("### Question:").strip()
    if kind not in QUESTION_FIELDS:
        kinds = ", ".join(QUESTION_FIELDS)
        raise LessonError(file, lines[0].number, f'there is no question of the kind "{kind}": choose one of {kinds}.')
    fields, rest = read_fields(file, lines[0].number, lines[1:], QUESTION_FIELDS[kind])
    if kind != "choose":
        return Question(kind, fields, rest, [])
    first = next((index for index, line in enumerate(rest) if line.text.startswith("- ")), len(rest))
    return Question(kind, fields, rest[:first], read_options(file, rest[first:]))


def read_options(file: Path, lines: list[Line]) -> list[Option]:
    """`- [x] TEXT` or `- [ ] TEXT`, each with its reason in indented lines; or `- TEXT` alone."""
    options: list[Option] = []
    for line in lines:
        if not line.text:
            continue
        match = OPTION.match(line.text)
        if match:
            right = None if match[1] is None else match[1] == "x"
            options.append(Option(line.number, match[2].strip(), right, ""))
        elif options and line.text.startswith("  "):
            last = options[-1]
            options[-1] = last._replace(why=f"{last.why} {line.text.strip()}".strip())
        else:
            raise LessonError(file, line.number, 'after the answers there can only be answers ("- [ ] …").')
    return options
