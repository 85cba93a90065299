"""The course: its lessons as plain data for the page, and what is wrong in their files."""

import json
import logging
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlencode

import yaml

from duoviz import runs
from duoviz.decoding.settings import DEFAULTS, Settings
from duoviz.errors import UserError
from duoviz.recordings import PLACES, recorded_runs
from duoviz.trace.reading import read_trace
from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.page import read_page
from duoviz.web.lessons.text import Mistake, Term, fields_in, located, markdown, one_of, parts_of, read_glossary

GLOSSARY = "glossary.md"
ABOUT = "README.md"
NEEDED = ("title", "summary", "trace")
FRONT_FIELDS = (*NEEDED, "live", "prompt", "watch", "read")
WORDS_A_MINUTE = 200

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
    files = [file for file in sorted(folder.glob("*.md")) if file.name not in (ABOUT, GLOSSARY)]
    lessons = [collect(mistakes, read_lesson, file, facts, terms) for file in files]
    for mistake in mistakes:
        log.warning("a mistake in the lessons: %s", mistake)
    glossary = [{"name": term.forms[0], "html": term.html} for term in terms]
    return Course([lesson for lesson in lessons if lesson], glossary, mistakes)


def collect(mistakes: list[str], read: Callable[..., Content], *arguments: object) -> Content | None:
    """What `read` gives, or None and its mistake."""
    try:
        return read(*arguments)
    except UserError as error:
        mistakes.append(str(error))
        return None


def read_traces(folder: Path, mistakes: list[str]) -> dict[str, dict]:
    """The recorded trace of each method that has one; what is wrong with a file is added to the mistakes."""
    traces = {method: collect(mistakes, read_trace, file) for method, file in recorded_runs(folder).items()}
    return {method: trace for method, trace in traces.items() if trace}


def read_places(folder: Path, traces: dict[str, dict]) -> list[list[dict]]:
    """What both models expected at each place of vanilla's text; nothing where that is not recorded for this text."""
    file = folder / PLACES
    if "vanilla" not in traces or not file.is_file():
        return []
    expected = json.loads(file.read_text(encoding="utf-8"))
    return expected["places"] if expected["text"] == traces["vanilla"]["end"]["text"] else []


def read_lesson(file: Path, facts: Facts, terms: list[Term]) -> dict:
    """One lesson's data. facts: of any run. Raises Mistake."""
    (_, front), *parts = parts_of(file)
    with located(file, 1):
        if not (fields := re.fullmatch(r"---\n(.*)\n---\s*", front, re.DOTALL)) or not parts:
            raise Mistake('a lesson begins with a line "---", its fields, another "---", and then pages, "## TITLE"')
        about = fields_in(fields[1], FRONT_FIELDS, NEEDED)
        facts = facts.of(about["trace"])
        prompt: str = about.get("prompt") or facts.trace["header"]["prompt"]
        live = live_link(about["live"], prompt) if "live" in about else None
        read = markdown.renderInline(about.get("read", ""))
    pages = []
    for line, part in parts:
        with located(file, line):
            pages.append(read_page(part, facts, terms))
    told = {field: about.get(field) for field in ("title", "summary", "watch")}
    name = re.sub(r"^\d+-", "", file.stem)
    return {"name": name, **told, "minutes": minutes_of(pages), "pages": pages, "live": live, "read": read}


def minutes_of(pages: list[dict]) -> int:
    """About how long a lesson takes: to read its words, and a minute for each question."""
    questions = [page["question"] for page in pages if page["question"]]
    words = re.sub("<[^>]*>", "", " ".join(each["text"] for each in pages + questions)).split()
    return math.ceil(len(words) / WORDS_A_MINUTE + len(questions))


def live_link(chosen: str, prompt: str) -> str:
    """The fragment that opens the Live tab with a method and settings, as `NAME=VALUE`, and runs it. Raises Mistake."""
    values = {name: text for name, _, text in (part.partition("=") for part in chosen.split())}
    for name in values:
        one_of(name, ("method", *DEFAULTS), f'live: there is no setting "{name}"')
    try:
        runs.check_method(values.get("method"))
        Settings(**{name: yaml.safe_load(text) for name, text in values.items() if name != "method"})
    except (UserError, yaml.YAMLError) as error:
        raise Mistake(f"live: {str(error).splitlines()[0].removesuffix('.')}") from None
    return "#tab=live&" + urlencode(values | {"prompt": prompt, "autoplay": "true"}, safe="", quote_via=quote)
