"""The course: its lessons as plain data for the page, and what is wrong in their files."""

import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from duoviz import runs
from duoviz.decoding import METHODS
from duoviz.decoding.settings import DEFAULTS, Settings, SettingsError
from duoviz.recordings import ENDING, PLACES
from duoviz.trace.reading import TraceError, read_trace
from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.page import PageReader, address_of
from duoviz.web.lessons.source import (
    Finder,
    LessonError,
    Mistake,
    Term,
    inline,
    located,
    one_of,
    read_fields,
    read_glossary,
    read_lines,
    sections,
)

GLOSSARY = "glossary.md"
ABOUT = "README.md"
NEEDED = ("title", "summary", "trace")
FRONT_FIELDS = (*NEEDED, "live", "prompt", "watch", "read")

Content = TypeVar("Content")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Course:
    """What the Learn tab shows. lessons, glossary: for JSON; mistakes: one sentence each, with file and line."""

    lessons: list[dict]
    glossary: list[dict]
    mistakes: list[str]


def read_course(folder: Path, traces_folder: Path) -> Course:
    """All lessons of a folder, in the order of their names; one with a mistake is left out, and its mistake logged."""
    mistakes: list[str] = []
    traces = read_traces(traces_folder, mistakes)
    facts = Facts(traces, "vanilla", places=read_places(traces_folder, traces))
    terms = (folder / GLOSSARY).is_file() and collect(mistakes, read_glossary, folder / GLOSSARY) or []
    files: dict[str, Path] = {}
    for file in sorted(folder.glob("*.md")):
        name = re.sub(r"^\d+-", "", file.stem)
        if file.name not in (ABOUT, GLOSSARY) and files.setdefault(name, file) is not file:
            mistakes.append(str(LessonError(file, 1, f'{files[name].name} has the name "{name}" too; rename one')))
    lessons = [collect(mistakes, read_lesson, name, file, facts, terms, {*files}) for name, file in files.items()]
    for mistake in mistakes:
        log.warning("a mistake in the lessons: %s", mistake)
    glossary = [{"name": term.forms[0], "spans": term.spans} for term in terms]
    return Course([lesson for lesson in lessons if lesson], glossary, mistakes)


def collect(mistakes: list[str], read: Callable[..., Content], *arguments: object) -> Content | None:
    """What `read` gives, or None and its mistake."""
    try:
        return read(*arguments)
    except (LessonError, TraceError) as error:
        mistakes.append(str(error))
        return None


def read_traces(folder: Path, mistakes: list[str]) -> dict[str, dict]:
    """The recorded trace of each method that has one; what is wrong with a file is added to the mistakes."""
    files = {method: folder / f"{method}{ENDING}" for method in METHODS}
    traces = {method: collect(mistakes, read_trace, file) for method, file in files.items() if file.is_file()}
    return {method: trace for method, trace in traces.items() if trace}


def read_places(folder: Path, traces: dict[str, dict]) -> list[list[dict]]:
    """What both models expected at each place of vanilla's text; nothing where that is not recorded for this text."""
    file = folder / PLACES
    if "vanilla" not in traces or not file.is_file():
        return []
    expected = json.loads(file.read_text(encoding="utf-8"))
    return expected["places"] if expected["text"] == traces["vanilla"]["end"]["text"] else []


def read_lesson(name: str, file: Path, facts: Facts, terms: list[Term], lessons: set[str]) -> dict:
    """One lesson's data. facts: of any run. lessons: the names of all, for links. Raises LessonError."""
    lines = read_lines(file)
    before, parts = sections(lines)
    with located(file, lines):
        front = read_front(before)
        if not parts:
            raise Mistake('the lesson has no page; a page begins with "## " and its title')
        facts, reading = facts.of(front["trace"]), inline(front.get("read", ""))
        for span in reading:
            if "to" in span:
                span["to"] = address_of(span["to"], lessons)
        live = live_link(front, facts.trace["header"]["prompt"])
    pages = []
    for first, part in parts:
        with located(file, part, first):
            pages.append(PageReader(part, facts, Finder(terms), lessons).read())
    about = {field: front[field] for field in ("title", "summary")}
    return {"name": name, **about, "pages": pages, "live": live, "watch": front.get("watch"), "read": reading}


def read_front(lines: list[str]) -> dict[str, str]:
    """The fields of what stands before the first page. Raises Mistake."""
    filled = [*filter(None, lines)]
    if len(filled) < 2 or filled[0] != "---" or filled[-1] != "---":
        raise Mistake('a lesson begins with a line "---", its fields, another "---", and then its first page')
    front = read_fields(filled[1:-1], FRONT_FIELDS)
    if missing := next((name for name in NEEDED if name not in front), None):
        raise Mistake(f'the field "{missing}" is missing')
    return front


def live_link(front: dict[str, str], prompt: str) -> str | None:
    """The fragment that opens the Live tab with the lesson's settings and runs it; prompt: where it names none.

    Raises Mistake.
    """
    if "live" not in front:
        return None
    parts = (part.partition("=") for part in front["live"].split())
    chosen = {name: text for name, _, text in parts}
    settings = {name: typed(text) for name, text in chosen.items() if name != "method"}
    for name in settings:
        one_of(name, DEFAULTS, f'there is no setting "{name}"', "live:")
    try:
        runs.check_method(chosen.get("method", "vanilla"))
        Settings(**settings)
    except SettingsError as error:
        raise Mistake(f"live: {str(error).removesuffix('.')}", "live:") from None
    asked = {"prompt": front.get("prompt", prompt), "autoplay": "true"}
    return "#tab=live&" + urlencode(chosen | asked, safe="", quote_via=quote)


def typed(text: str) -> Any:
    """The number that a text is, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
