"""The course: its lessons as plain data for the page, and what is wrong in their files."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from jsonschema_rs import Draft4Validator

from duoviz import runs
from duoviz.decoding import METHODS
from duoviz.decoding.settings import DEFAULTS, Settings, SettingsError
from duoviz.recordings import ENDING, PLACES
from duoviz.trace.reading import TraceError, read_trace
from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.page import PageReader
from duoviz.web.lessons.source import (
    Finder,
    LessonError,
    Mistake,
    Span,
    Term,
    inline,
    located,
    read_fields,
    read_glossary,
    read_lines,
    refuse_placeholders,
    sections,
)

GLOSSARY = "glossary.md"
ABOUT = "README.md"
NEEDED = ("title", "summary", "trace")
FRONT_FIELDS = (*NEEDED, "live", "prompt", "watch", "read")
# What `recordings.places` gives.
CHANCE = {"type": "number", "minimum": 0, "maximum": 1}
TOKEN = {
    "type": "object",
    "required": ["text", "p", "q"],
    "properties": {"text": {"type": "string"}, "p": CHANCE, "q": CHANCE},
}
PLACE = {"type": "array", "minItems": 1, "items": TOKEN}
EXPECTED = Draft4Validator(
    {
        "type": "object",
        "required": ["text", "places"],
        "properties": {"text": {"type": "string"}, "places": {"type": "array", "items": PLACE}},
    }
)

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
    facts = Facts(traces, "vanilla", places=read_places(traces_folder, traces, mistakes))
    terms = (folder / GLOSSARY).is_file() and collect(mistakes, read_glossary, folder / GLOSSARY) or []
    files = unambiguous([file for file in sorted(folder.glob("*.md")) if file.name not in (ABOUT, GLOSSARY)], mistakes)
    names = {name_of(file) for file in files}
    lessons = [collect(mistakes, read_lesson, file, facts, terms, names) for file in files]
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


def read_places(folder: Path, traces: dict[str, dict], mistakes: list[str]) -> list[list[dict]]:
    """What both models expected at each place of vanilla's text; nothing where that is not recorded for this text."""
    file = folder / PLACES
    if "vanilla" not in traces or not file.is_file():
        return []
    try:
        expected = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        expected = None
    if expected is None or not EXPECTED.is_valid(expected):
        mistakes.append(f"{PLACES} is not what `python -m duoviz record` writes.")
        return []
    return expected["places"] if expected["text"] == traces["vanilla"]["end"]["text"] else []


def place_of(file: Path) -> tuple[int | None, str]:
    """A lesson's number and its name, from its file's name; no number is None."""
    number, _, name = file.stem.partition("-")
    return (int(number), name) if number.isdecimal() and name else (None, file.stem)


def name_of(file: Path) -> str:
    """A lesson's name in links: its file's, without the number before it."""
    return place_of(file)[1]


def unambiguous(files: list[Path], mistakes: list[str]) -> list[Path]:
    """The files without those that have the number or name of one before them; each of these is a mistake more."""
    known: dict[int | str, Path] = {}
    for file in files:
        number, name = place_of(file)
        keys = {"name": name} | ({} if number is None else {"number": number})
        if taken := next((what for what, key in keys.items() if key in known), None):
            message = f'{known[keys[taken]].name} has the {taken} "{keys[taken]}" too; rename one'
            mistakes.append(str(LessonError(file, 1, message)))
        else:
            known |= dict.fromkeys(keys.values(), file)
    return [file for file in files if file in known.values()]


def read_lesson(file: Path, facts: Facts, terms: list[Term], lessons: set[str]) -> dict:
    """One lesson's data. facts: of any run. lessons: the names of all, for links. Raises LessonError."""
    lines = read_lines(file)
    before, parts = sections(lines)
    with located(file, lines):
        front = read_front(before)
        if not parts:
            raise Mistake('the lesson has no page; a page begins with "## " and its title')
        facts, reading = facts.of(front["trace"]), references(front)
        live = live_link(front, facts.trace["header"]["prompt"])
    pages = []
    for first, part in parts:
        with located(file, part, first):
            pages.append(PageReader(part, facts, Finder(terms), lessons).read())
    about = {name: front[name] for name in ("title", "summary")}
    return {"name": name_of(file), **about, "pages": pages, "live": live, "watch": front.get("watch"), "read": reading}


def read_front(lines: list[str]) -> dict[str, str]:
    """The fields of what stands before the first page. Raises Mistake."""
    if lines[:1] != ["---"] or "---" not in lines[1:]:
        raise Mistake('a lesson begins with a line "---", its fields and another "---"')
    end = lines.index("---", 1)
    if text := next(filter(None, lines[end + 1 :]), None):
        raise Mistake('text before the first page; a page begins with "## " and its title', text)
    front = read_fields(filter(None, lines[1:end]), FRONT_FIELDS)
    if missing := next((name for name in NEEDED if name not in front), None):
        raise Mistake(f'the field "{missing}" is missing')
    for name in {"title", "summary", "watch", "read"} & front.keys():
        refuse_placeholders(front[name])
    return front


def references(front: dict[str, str]) -> list[Span]:
    """What to read beside the lesson, as spans. Raises Mistake."""
    spans = inline(front.get("read", ""))
    if wrong := next((span["to"] for span in spans if not span.get("to", "https:").startswith("https:")), None):
        raise Mistake(f'"{wrong}" is not an https address', wrong)
    return spans


def live_link(front: dict[str, str], prompt: str) -> str | None:
    """The fragment that opens the Live tab with the lesson's settings and runs it; prompt: where it names none.

    Raises Mistake.
    """
    if "live" not in front:
        if extra := next((name for name in ("prompt", "watch") if name in front), None):
            raise Mistake(f'the field "{extra}" is for "live", which is missing', f"{extra}:")
        return None
    chosen: dict[str, str] = {}
    for part in front["live"].split():
        name, equals, text = part.partition("=")
        if not equals or name in chosen:
            raise Mistake(f'"{part}" is not NAME=VALUE, or its name is used twice', part)
        chosen[name] = text
    try:
        check_settings(**chosen)
    except SettingsError as error:
        raise Mistake(f"live: {str(error).removesuffix('.')}", "live:") from None
    asked = {"prompt": front.get("prompt", prompt), "autoplay": "true"}
    return "#tab=live&" + urlencode(chosen | asked, safe="", quote_via=quote)


def check_settings(method: str = "vanilla", **chosen: str) -> None:
    """Raise SettingsError unless these are a method and settings that a run may have."""
    runs.check_method(method)
    for name in chosen.keys() - DEFAULTS.keys():
        raise SettingsError(f"There is no setting {name!r}.")
    Settings(**{name: typed(text) for name, text in chosen.items()})


def typed(text: str) -> Any:
    """The number that a text is, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
