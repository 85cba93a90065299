"""A lesson's file as it stands: sections, fields, Markdown, terms; and what may be wrong in it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from duoviz.errors import UserError

# A span is {"kind", "text"} and, of a link, "to"; a block is {"kind": "paragraph", "spans"} or
# {"kind": "list" or "numbers", "items": [spans, …]}.
Span = dict
Block = dict

FIELD = re.compile(r"([a-z]+): +(.+)$")
LISTS = {"bullet_list": "list", "ordered_list": "numbers"}
PLAIN: Span = {"kind": "text"}

parser = MarkdownIt("commonmark", {"html": False}).disable(["entity", "escape"])


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


def read_lines(file: Path) -> list[str]:
    """The file's lines. Raises LessonError where it is not UTF-8 text."""
    try:
        return [line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()]
    except UnicodeDecodeError:
        raise LessonError(file, 1, "this is not UTF-8 text") from None


def sections(lines: list[str]) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The lines before the first heading; each section's first line's number, and its lines."""
    starts = [index for index, line in enumerate(lines) if line.startswith("## ")]
    parts = [(at + 1, lines[at:end]) for at, end in zip(starts, [*starts, len(lines)][1:], strict=True)]
    return lines[: starts[0] if starts else None], parts


def read_fields(lines: Iterable[str], known: Collection[str]) -> dict[str, str]:
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
        fields[name] = value
    return fields


def under_heading(lines: list[str], known: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """The fields directly under a heading, up to the first empty line, and the lines after it."""
    end = lines.index("") if "" in lines else len(lines)
    return read_fields(lines[1:end], known), lines[end:]


def blocks(lines: Sequence[str], finish: Callable[[list[Span]], list[Span]] = list) -> list[Block]:
    """Markdown as plain data, which the page sets as text; finish: what its spans go through.

    Raises Mistake for Markdown that a lesson may not use.
    """
    return [block_of(node, lines, finish) for node in SyntaxTreeNode(parser.parse("\n".join(lines))).children]


def block_of(node: SyntaxTreeNode, lines: Sequence[str], finish: Callable[[list[Span]], list[Span]]) -> Block:
    if node.type == "paragraph":
        return {"kind": "paragraph", "spans": finish(spans(node.children[0]))}
    items = [[part.type for part in item.children] for item in node.children] if node.type in LISTS else []
    if not items or any(parts != ["paragraph"] for parts in items):
        line = lines[node.map[0] if node.map else 0]
        raise Mistake("a lesson's text is made of paragraphs, and of lists whose items are one paragraph each", line)
    return {"kind": LISTS[node.type], "items": [finish(spans(item.children[0].children[0])) for item in node.children]}


def inline(text: str) -> list[Span]:
    """The spans of one line."""
    return spans(SyntaxTreeNode(parser.parseInline(text)).children[0]) if text else []


def spans(paragraph: SyntaxTreeNode) -> list[Span]:
    """Text in the style of the innermost mark around it; what stands side by side in one style is one span."""
    parts = groupby(pieces(paragraph, PLAIN), itemgetter(0))
    return [style | {"text": text} for style, part in parts if (text := "".join(piece for _, piece in part))]


def pieces(node: SyntaxTreeNode, style: Span) -> Iterator[tuple[Span, str]]:
    """The text in a node, piece by piece, each with its style."""
    for child in node.children:
        if child.type in ("strong", "em"):
            yield from pieces(child, {"kind": child.type})
        elif child.type == "link":
            yield from pieces(child, {"kind": "link", "to": child.attrs["href"]})
        elif child.type == "code_inline":
            yield {"kind": "code"}, child.content
        elif child.type in ("text", "softbreak"):
            yield style, child.content or " "
        else:
            raise Mistake("pictures and line breaks have no place in a lesson's text", node.content.split("\n")[0])


def cut(span: Span, pattern: re.Pattern, part_of: Callable[[re.Match], Span | None]) -> list[Span]:
    """The span in parts: where the pattern matches, what `part_of` gives; None leaves the text as it is."""
    parts, end, text = [], 0, span["text"]
    for match in pattern.finditer(text):
        if part := part_of(match):
            parts += [{**span, "text": text[end : match.start()]}, part]
            end = match.end()
    return [part for part in (*parts, {**span, "text": text[end:]}) if part["text"]]


class Term(NamedTuple):
    """forms: the words that stand for it, the first being its name; spans: what it means."""

    forms: tuple[str, ...]
    spans: list[Span]


def read_glossary(file: Path) -> list[Term]:
    """`## NAME, OTHER FORM, …` and one paragraph, again and again; before them may stand a text. Raises LessonError."""
    terms = []
    for first, (heading, *lines) in sections(read_lines(file))[1]:
        with located(file, [heading, *lines], first):
            name, *others = (form.strip() for form in heading.removeprefix("## ").split(","))
            meaning = blocks(lines)
            if not all((name, *others)) or [block["kind"] for block in meaning] != ["paragraph"]:
                raise Mistake("a term has a name, perhaps other forms, and one paragraph that says what it means")
        terms.append(Term((name, *others), meaning[0]["spans"]))
    return terms


def pattern_of(form: str) -> str:
    """What finds a form in a text: k, γ and capitals as they are (REST is not the rest), others in either case."""
    exact = len(form) == 1 or form.isupper()
    return f"({re.escape(form)})" if exact else f"((?i:{re.escape(form)}))"


class Finder:
    """Marks the terms in one page's text: each where it stands first."""

    def __init__(self, terms: list[Term]):
        named = [(form, term.forms[0]) for term in terms for form in term.forms]
        forms = sorted(named, key=lambda each: len(each[0]), reverse=True)
        self.names = [name for _, name in forms]
        # Without terms, what never matches.
        choices = "|".join(pattern_of(form) for form, _ in forms) or "(?!)"
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
        name = self.names[(match.lastindex or 1) - 1]
        if name in self.seen:
            return None
        self.seen.add(name)
        return {"kind": "term", "text": match[0], "to": name}
