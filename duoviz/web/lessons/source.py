"""A lesson's file as it stands: front matter, pages and questions, each with its line."""

import re
from collections.abc import Collection
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
    """One line of a file, or a part of it; numbers count from 1."""

    file: Path
    number: int
    text: str

    def mistake(self, message: str) -> LessonError:
        return LessonError(self.file, self.number, message)

    def check(self, name: str, known: Collection[str], message: str) -> None:
        """Raise LessonError, which says what is known, unless the name is."""
        if name not in known:
            raise self.mistake(f"{message}: choose one of {', '.join(known)}.")


# `name: value` lines by their names, each with its value as its text.
Fields = dict[str, Line]


class Option(NamedTuple):
    """One answer to choose from; right: None where the question's `answer` says which one is."""

    text: Line
    right: bool | None
    why: Line


class Question(NamedTuple):
    """heading: where it begins; kind: one of QUESTION_FIELDS; text: what is asked; options: of a question to choose."""

    heading: Line
    kind: str
    fields: Fields
    text: list[Line]
    options: list[Option]

    def field(self, name: str) -> Line:
        """A field that the question must have. Raises LessonError."""
        if name not in self.fields:
            raise self.heading.mistake(f'the question\'s field "{name}" is missing.')
        return self.fields[name]


class Page(NamedTuple):
    """A page as written."""

    title: Line
    fields: Fields
    text: list[Line]
    question: Question | None


def read_lines(file: Path) -> list[Line]:
    """The file's lines. Raises LessonError where it is not UTF-8 text."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise LessonError(file, line, "this is not UTF-8 text.") from None
    return [Line(file, number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]


def sections(lines: list[Line]) -> tuple[list[Line], list[list[Line]]]:
    """The lines before the first heading, and those of each section from its heading on."""
    starts = [index for index, line in enumerate(lines) if line.text.startswith("## ")]
    parts = [lines[at:end] for at, end in zip(starts, [*starts, len(lines)][1:], strict=True)]
    return lines[: starts[0] if starts else None], parts


def read_source(file: Path) -> tuple[Fields, list[Page]]:
    """A lesson's front matter and pages as written, with nothing looked up in a trace. Raises LessonError."""
    lines = read_lines(file)
    if not lines or lines[0].text != "---":
        raise LessonError(file, 1, 'a lesson begins with a line "---", its fields and another "---".')
    end = next((index for index, line in enumerate(lines[1:], 1) if line.text == "---"), None)
    if end is None:
        raise lines[0].mistake('the fields have no end; put a line "---" after them.')
    front = read_front(lines[:end])
    before, pages = sections(lines[end + 1 :])
    for line in before:
        if line.text:
            raise line.mistake('text before the first page; a page begins with "## " and its title.')
    if not pages:
        raise lines[0].mistake('the lesson has no page; a page begins with "## " and its title.')
    return front, [read_page(page) for page in pages]


def read_front(lines: list[Line]) -> Fields:
    """The fields after the first `---`. Raises LessonError."""
    fields = read_fields([line for line in lines[1:] if line.text], FRONT_FIELDS)
    for name in ("title", "summary", "trace"):
        if name not in fields:
            raise lines[0].mistake(f'the field "{name}" is missing.')
    for name in ("title", "summary", "watch"):
        if name in fields:
            refuse_placeholders(fields[name])
    return fields


def refuse_placeholders(line: Line) -> None:
    """Raise LessonError for a brace in what stands in lists and headings, where no figure is filled in."""
    if set("{}") & set(line.text):
        raise line.mistake(
            "a title, a summary or what to watch has no placeholders, so no { or }; write the figure in the text."
        )


def read_fields(lines: list[Line], known: tuple[str, ...]) -> Fields:
    """Lines that are all fields. Raises LessonError where one is none, or unknown, or stands twice."""
    fields: Fields = {}
    for line in lines:
        match = FIELD.match(line.text)
        if not match:
            raise line.mistake(f'"{line.text}" is not a field; a field is a name, ": " and its value.')
        name, value = match[1], (match[2] or "").strip()
        line.check(name, known, f'there is no field "{name}" here')
        if name in fields:
            raise line.mistake(f'the field "{name}" is used twice.')
        if not value:
            raise line.mistake(f'the field "{name}" is empty.')
        fields[name] = line._replace(text=value)
    return fields


def under_heading(lines: list[Line], known: tuple[str, ...]) -> tuple[Fields, list[Line]]:
    """The fields directly under a heading, up to the first empty line, and the lines after it."""
    end = next((index for index, line in enumerate(lines) if not line.text), len(lines))
    return read_fields(lines[1:end], known), lines[end:]


def read_page(lines: list[Line]) -> Page:
    """A page: its heading, its fields, its text, and at the end perhaps a question."""
    title = lines[0]._replace(text=lines[0].text.removeprefix("## ").strip())
    refuse_placeholders(title)
    headings = [index for index, line in enumerate(lines) if line.text.startswith("#") and index]
    for index in headings:
        if not lines[index].text.startswith("### Question:"):
            raise lines[index].mistake('the only headings are "## TITLE" and "### Question: KIND" under it.')
    if len(headings) > 1:
        raise lines[headings[1]].mistake("this page has a question already; begin a new page.")
    end = headings[0] if headings else len(lines)
    fields, text = under_heading(lines[:end], PAGE_FIELDS)
    return Page(title, fields, text, read_question(lines[end:]) if headings else None)


def read_question(lines: list[Line]) -> Question:
    """A question: its kind, its fields, its text, and the options of one to choose. Raises LessonError."""
    kind = lines[0].text.removeprefix("### Question:").strip()
    lines[0].check(kind, QUESTION_FIELDS, f'there is no question of the kind "{kind}"')
    fields, rest = under_heading(lines, QUESTION_FIELDS[kind])
    starts = (index for index, line in enumerate(rest) if line.text.startswith("- "))
    first = next(starts, len(rest)) if kind == "choose" else len(rest)
    return Question(lines[0], kind, fields, rest[:first], read_options(rest[first:]))


def read_options(lines: list[Line]) -> list[Option]:
    """`- [x] TEXT` or `- [ ] TEXT`, each with its reason in indented lines; or `- TEXT` alone."""
    options: list[Option] = []
    for line in filter(lambda line: line.text, lines):
        if match := OPTION.match(line.text):
            right = None if match[1] is None else match[1] == "x"
            options.append(Option(line._replace(text=match[2].strip()), right, line._replace(text="")))
        elif options and line.text.startswith("  "):
            why = options[-1].why
            options[-1] = options[-1]._replace(why=why._replace(text=f"{why.text} {line.text.strip()}".strip()))
        else:
            raise line.mistake('after the answers there can only be answers ("- [ ] …").')
    return options
