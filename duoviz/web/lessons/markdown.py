"""A lesson's Markdown as plain data: paragraphs and lists of spans, for the page to set as text."""

from collections.abc import Callable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from duoviz.web.lessons.source import Line

# A span is {"kind", "text"} and, of a link, "to"; a block is {"kind": "paragraph", "line", "spans"} or
# {"kind": "list" or "numbers", "line", "items": [spans, …]}.
Span = dict
Block = dict

STYLES = {"strong_open": "strong", "em_open": "em"}
LISTS = {"bullet_list_open": "list", "ordered_list_open": "numbers"}

# Called with a line's number and a sentence, it gives the error to raise.
Mistake = Callable[[int, str], Exception]

parser = MarkdownIt("commonmark", {"html": False}).disable(["entity", "escape", "backticks_"], ignoreInvalid=True)


def blocks(lines: Sequence[Line], mistake: Mistake) -> list[Block]:
    """Parse a part of a file. Raises what `mistake` gives for Markdown that a lesson may not use."""
    if not lines:
        return []
    first = lines[0].number
    tokens = iter(parser.parse("\n".join(line.text for line in lines)))
    parsed = []
    for token in tokens:
        line = first + (token.map[0] if token.map else 0)
        if token.type == "paragraph_open":
            parsed.append({"kind": "paragraph", "line": line, "spans": spans(next(tokens), line, mistake)})
            next(tokens)
        elif token.type in LISTS:
            parsed.append({"kind": LISTS[token.type], "line": line, "items": items(tokens, line, mistake)})
        else:
            raise mistake(line, "a lesson's text is made of paragraphs and simple lists only.")
    return parsed


def items(tokens: Iterator[Token], line: int, mistake: Mistake) -> list[list[Span]]:
    """The items of a list, one paragraph each, up to its end."""
    paragraphs = []
    for token in tokens:
        if token.type in ("bullet_list_close", "ordered_list_close"):
            return paragraphs
        if token.type == "list_item_open":
            inner = next(tokens)
            if inner.type != "paragraph_open":
                raise mistake(line, "a list item is one paragraph, without a nested list.")
            paragraphs.append(spans(next(tokens), line, mistake))
        elif token.type not in ("paragraph_close", "list_item_close"):
            raise mistake(line, "a list item is one paragraph, without a nested list.")
    raise AssertionError("markdown-it closes every list")


def inline(text: str, line: int, mistake: Mistake) -> list[Span]:
    """The spans of one line."""
    return spans(parser.parseInline(text)[0], line, mistake)


def spans(paragraph: Token, line: int, mistake: Mistake) -> list[Span]:
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
            line += 1
            add_text(parts, {**styles[-1], "text": " "})
        else:
            raise mistake(line, "pictures and line breaks have no place in a lesson's text.")
    return parts


def add_text(parts: list[Span], span: Span) -> None:
    """Append a span, or join it to the last one where both have the same style."""
    if parts and {**parts[-1], "text": ""} == {**span, "text": ""}:
        parts[-1]["text"] += span["text"]
    elif span["text"]:
        parts.append(span)
