"""A lesson's file as it stands: sections, fields, Markdown, terms; and what may be wrong in it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from duoviz.errors import UserError

# A span is {"kind", "text"} and, of a link, "to"; a block is {"kind": "paragraph", "spans"} or
# {"kind": "list" or "numbers", "items": [spans, …]}.
Span = dict
Block = dict

FIELD = re.compile(r"([a-z]+): +(.+)$")
STYLES = {"strong_open": "strong", "em_open": "em"}
LISTS = {"bullet_list_open": "list", "ordered_list_open": "numbers"}

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


def refuse_placeholders(text: str) -> None:
    """Raise Mistake for a brace in what stands in lists and headings, where no figure is filled in."""
    if set("{}") & set(text):
        message = "a title, a summary or what to watch has no placeholders, so no { or }; write the figure in the text"
        raise Mistake(message, text)


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


def blocks(lines: Sequence[str]) -> list[Block]:
    """Markdown as plain data, which the page sets as text. Raises Mistake for Markdown that a lesson may not use."""
    tokens = iter(parser.parse("\n".join(lines)))
    parsed = []
    for token in tokens:
        line = lines[token.map[0] if token.map else 0]
        if token.type == "paragraph_open":
            parsed.append({"kind": "paragraph", "spans": spans(next(tokens))})
            next(tokens)
        elif token.type in LISTS:
            parsed.append({"kind": LISTS[token.type], "items": items(tokens, line)})
        else:
            raise Mistake("a lesson's text is made of paragraphs and simple lists only", line)
    return parsed


def items(tokens: Iterator[Token], line: str) -> list[list[Span]]:
    """The items of a list, one paragraph each, up to its end."""
    paragraphs = []
    while (token := next(tokens)).type not in ("bullet_list_close", "ordered_list_close"):
        if token.type == "list_item_open" and next(tokens).type == "paragraph_open":
            paragraphs.append(spans(next(tokens)))
        elif token.type not in ("paragraph_close", "list_item_close"):
            raise Mistake("a list item is one paragraph, without a nested list", line)
    return paragraphs


def inline(text: str) -> list[Span]:
    """The spans of one line."""
    return spans(parser.parseInline(text)[0]) if text else []


def spans(paragraph: Token) -> list[Span]:
    """Text in the style of the innermost mark around it; what stands side by side in one style is one span."""
    parts: list[Span] = []
    styles: list[Span] = [{"kind": "text"}]
    for token in paragraph.children or []:
        if token.type in STYLES:
            styles.append({"kind": STYLES[token.type]})
        elif token.type == "link_open":
            styles.append({"kind": "link", "to": token.attrs["href"]})
        elif token.nesting == -1:
            styles.pop()
        elif token.type == "code_inline":
            parts.append({"kind": "code", "text": token.content})
        elif token.type in ("text", "text_special", "softbreak"):
            text = " " if token.type == "softbreak" else token.content
            if parts and {**parts[-1], "text": ""} == {**styles[-1], "text": ""}:
                parts[-1]["text"] += text
            elif text:
                parts.append({**styles[-1], "text": text})
        else:
            raise Mistake("pictures and line breaks have no place in a lesson's text", paragraph.content.split("\n")[0])
    return parts


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
