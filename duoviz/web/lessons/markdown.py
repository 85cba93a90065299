"""A lesson's Markdown as plain data: paragraphs and lists of spans, for the page to set as text."""

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from duoviz.web.lessons.source import Mistake

# A span is {"kind", "text"} and, of a link, "to"; a block is {"kind": "paragraph", "spans"} or
# {"kind": "list" or "numbers", "items": [spans, …]}.
Span = dict
Block = dict

STYLES = {"strong_open": "strong", "em_open": "em"}
LISTS = {"bullet_list_open": "list", "ordered_list_open": "numbers"}

parser = MarkdownIt("commonmark", {"html": False}).disable(["entity", "escape", "backticks_"], ignoreInvalid=True)


def blocks(lines: Sequence[str]) -> list[Block]:
    """Parse a part of a file. Raises Mistake for Markdown that a lesson may not use."""
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
    return spans(parser.parseInline(text)[0])


def spans(paragraph: Token) -> list[Span]:
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
            add_text(parts, {**styles[-1], "text": " "})
        else:
            raise Mistake("pictures and line breaks have no place in a lesson's text", paragraph.content.split("\n")[0])
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
