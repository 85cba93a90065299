"""A lesson's Markdown as plain data: paragraphs and lists of spans, for the page to set as text."""

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from duoviz.web.lessons.source import Line

# A span is {"kind", "text"} and, of a link, "to"; a block is {"kind": "paragraph", "line", "spans"} or
# {"kind": "list" or "numbers", "line", "items": [spans, …]}, `line` being the Line on which it begins.
Span = dict
Block = dict

STYLES = {"strong_open": "strong", "em_open": "em"}
LISTS = {"bullet_list_open": "list", "ordered_list_open": "numbers"}

parser = MarkdownIt("commonmark", {"html": False}).disable(["entity", "escape", "backticks_"], ignoreInvalid=True)


def blocks(lines: Sequence[Line]) -> list[Block]:
    """Parse a part of a file. Raises LessonError for Markdown that a lesson may not use."""
    tokens = iter(parser.parse("\n".join(line.text for line in lines)))
    parsed = []
    for token in tokens:
        line = lines[token.map[0] if token.map else 0]
        if token.type == "paragraph_open":
            parsed.append({"kind": "paragraph", "line": line, "spans": spans(next(tokens), line)})
            next(tokens)
        elif token.type in LISTS:
            parsed.append({"kind": LISTS[token.type], "line": line, "items": items(tokens, line)})
        else:
            raise line.mistake("a lesson's text is made of paragraphs and simple lists only.")
    return parsed


def items(tokens: Iterator[Token], line: Line) -> list[list[Span]]:
    """The items of a list, one paragraph each, up to its end."""
    paragraphs = []
    while (token := next(tokens)).type not in ("bullet_list_close", "ordered_list_close"):
        if token.type == "list_item_open" and next(tokens).type == "paragraph_open":
            paragraphs.append(spans(next(tokens), line))
        elif token.type not in ("paragraph_close", "list_item_close"):
            raise line.mistake("a list item is one paragraph, without a nested list.")
    return paragraphs


def inline(line: Line) -> list[Span]:
    """The spans of one line."""
    return spans(parser.parseInline(line.text)[0], line)


def spans(paragraph: Token, line: Line) -> list[Span]:
    """Text in the style of the innermost mark around it."""
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
        elif token.type in ("text", "text_special"):
            add_text(parts, {**styles[-1], "text": token.content})
        elif token.type == "softbreak":
            line = line._replace(number=line.number + 1)
            add_text(parts, {**styles[-1], "text": " "})
        else:
            raise line.mistake("pictures and line breaks have no place in a lesson's text.")
    return parts


def add_text(parts: list[Span], span: Span) -> None:
    """Append a span, or join it to the last one where both have the same style."""
    if parts and {**parts[-1], "text": ""} == {**span, "text": ""}:
        parts[-1]["text"] += span["text"]
    elif span["text"]:
        parts.append(span)


def cut(span: Span, pattern: re.Pattern, part_of: Callable[[re.Match], Span | None]) -> list[Span]:
    """The span in parts: where the pattern matches, what `part_of` gives; None leaves the text as it is."""
    parts, end, text = [], 0, span["text"]
    for match in pattern.finditer(text):
        if part := part_of(match):
            parts += [{**span, "text": text[end : match.start()]}, part]
            end = match.end()
    return [part for part in (*parts, {**span, "text": text[end:]}) if part["text"]]
