"""The page's terms, each with a sentence or two, and finding them in a text."""

import re
from pathlib import Path
from typing import NamedTuple

from duoviz.web.lessons.source import Mistake, Span, blocks, cut, located, read_lines, sections


class Term(NamedTuple):
    """forms: the words that stand for it, the first being its name; spans: what it means."""

    forms: tuple[str, ...]
    spans: list[Span]


def read_glossary(file: Path) -> list[Term]:
    """`## NAME, OTHER FORM, …` and one paragraph, again and again; before them may stand a text. Raises LessonError."""
    terms: list[Term] = []
    known: set[str] = set()
    for first, (heading, *lines) in sections(read_lines(file))[1]:
        forms = tuple(form.strip() for form in heading.removeprefix("## ").split(","))
        with located(file, [heading, *lines], first):
            for form in forms:
                if not form or key_of(form) in known:
                    raise Mistake(f'the term "{form}" is empty or used twice')
                known.add(key_of(form))
            meaning = blocks(lines)
            if [block["kind"] for block in meaning] != ["paragraph"]:
                raise Mistake(f'the term "{forms[0]}" needs one paragraph that says what it means')
        terms.append(Term(forms, meaning[0]["spans"]))
    return terms


def key_of(form: str) -> str:
    """How a form is compared: words without regard to case; k, γ and the like as they are."""
    return form if len(form) == 1 else form.lower()


def pattern_of(form: str) -> str:
    """What finds a form in a text. Capitals are found as capitals only: REST is not the rest."""
    exact = len(form) == 1 or form.isupper()
    return re.escape(form) if exact else f"(?i:{re.escape(form)})"


class Finder:
    """Marks the terms in one page's text: each where it stands first."""

    def __init__(self, terms: list[Term]):
        self.names = {key_of(form): term.forms[0] for term in terms for form in term.forms}
        forms = sorted((form for term in terms for form in term.forms), key=len, reverse=True)
        # Without terms, what never matches.
        choices = "|".join(map(pattern_of, forms)) or "(?!)"
        self.pattern = re.compile(rf"(?<![\w-])(?:{choices})(?![\w-])")
        self.seen: set[str] = set()

    def mark(self, spans: list[Span]) -> list[Span]:
        """The spans, with each term's first place in the page's text as a span of kind "term"."""
        marked = []
        for span in spans:
            marked += cut(span, self.pattern, self.term) if span["kind"] == "text" else [span]
        return marked

    def term(self, match: re.Match) -> Span | None:
        """A term as a span, None where it stood before."""
        name = self.names[key_of(match[0])]
        if name in self.seen:
            return None
        self.seen.add(name)
        return {"kind": "term", "text": match[0], "to": name}
