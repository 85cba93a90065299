"""A lesson's text: its file in parts, Markdown as HTML with its figures, links and terms."""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, partial
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined, TemplateError
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from duoviz.errors import UserError
from duoviz.web.lessons.formula import formula_html

# The token with which a model ends its answer: it is no text.
END_OF_ANSWER = re.compile(r"<\|(im_end|endoftext|eot_id|end_of_text)\|>|</s>")


class Mistake(UserError):
    """What is wrong in a lesson; a sentence without a full stop, which `located` completes."""


@contextmanager
def located(file: Path, line: int) -> Iterator[None]:
    """Begin a Mistake's sentence with the file, and the line where the part begins in which it is."""
    try:
        yield
    except Mistake as mistake:
        # The folder's name is enough to find it, and the same on every machine.
        raise Mistake(f"{file.parent.name}/{file.name}:{line}: {mistake}.") from None


def one_of(name: str, known: Collection[str], message: str) -> None:
    """Raise Mistake, which says what is known, unless the name is."""
    if name not in known:
        raise Mistake(f"{message}: choose one of {', '.join(known)}")


def parts_of(file: Path) -> list[tuple[int, str]]:
    """What stands before the first `## `, and each part that begins so, with the line where it begins."""
    text = file.read_text(encoding="utf-8", errors="replace")
    places = [0, *(heading.start() for heading in re.finditer("^## ", text, re.MULTILINE)), len(text)]
    return [(1 + text.count("\n", 0, begin), text[begin:end]) for begin, end in pairwise(places)]


def fields_in(lines: str, known: Collection[str], needed: Collection[str] = ()) -> dict[str, str]:
    """Lines `NAME: VALUE`. Raises Mistake."""
    fields: dict[str, str] = {}
    for line in lines.splitlines():
        name, _, value = line.partition(": ")
        if not value:
            raise Mistake(f'"{line}" is not a field; a field is a name, ": " and its value')
        one_of(name, known, f'there is no field "{name}" here')
        fields[name] = value
    if missing := [name for name in needed if name not in fields]:
        raise Mistake(f'the field "{missing[0]}" is missing')
    return fields


def headed(part: str) -> tuple[str, str, str]:
    """A part's heading, the lines of fields directly under it, and the text after the first empty line."""
    top, _, text = part.partition("\n\n")
    heading, _, lines = top.partition("\n")
    return heading.strip(), lines, text


def seconds(value: float) -> str:
    digits = 2 if value < 0.001 else 1 if value < 0.1 else 0
    return f"{fixed(value, 2)} s" if value >= 1 else f"{fixed(1000 * value, digits)} ms"


def over(value: float, other: float) -> str:
    """How many times as long as the other a time is, by what `seconds` shows of both, so that readers find the same."""
    shown = [float(text) * (1000 if unit == "s" else 1) for text, unit in (seconds(t).split() for t in (value, other))]
    ratio = shown[0] / shown[1]
    return fixed(ratio, 2 if ratio < 10 else 1)


def percent(value: float) -> str:
    return f"{fixed(100 * value, 0)} %"


def fixed(value: float, digits: int) -> str:
    """Rounded as the page's scripts round, halves away from zero: both show the same number."""
    return str(Decimal(float(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def counted(number: int, word: str) -> str:
    """As in "1 more token", "2 guesses"."""
    if not isinstance(number, int):
        raise TypeError(f"{number} is not a whole number")
    many = "es" if word.endswith("s") else "s"
    return f"{number} {word}{'' if number == 1 else many}"


def quoted(token: dict) -> str:
    """A token's text as words on the page."""
    text = token["text"]
    if END_OF_ANSWER.fullmatch(text):
        return "the end of the answer"
    return f"“{text.strip(' ') or text.replace(' ', '␣')}”".replace("\n", "↵")


def ordinal(number: int) -> str:
    """As in "the second one"."""
    few = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    return few[number - 1] if number <= len(few) else f"{number}th"


FORMS = {write.__name__: write for write in (seconds, over, percent, fixed, counted, ordinal, quoted)}

expressions = Environment(undefined=StrictUndefined)
expressions.filters |= FORMS
expressions.globals["log"] = math.log
compiled = cache(partial(expressions.compile_expression, undefined_to_none=False))


def value_of(expression: str, names: Mapping[str, Any]) -> Any:
    """What an expression of Jinja2 comes to. Raises Mistake."""
    try:
        value = compiled(expression)(names)
        # What is not defined raises its error when it is used.
        bool(value)
    except (TemplateError, TypeError, ValueError, ArithmeticError, KeyError, Mistake) as error:
        raise Mistake(f'"{expression}" cannot be computed: {error}; see README.md') from None
    return value


class Term(NamedTuple):
    """forms: the words that stand for it, the first being its name; html: what it means."""

    forms: tuple[str, ...]
    html: str


def read_glossary(file: Path) -> list[Term]:
    """`## NAME, OTHER FORM, …` and one paragraph, again and again; before them may stand a text. Raises Mistake."""
    terms = []
    for line, part in parts_of(file)[1:]:
        heading, _, meaning = part.removeprefix("## ").partition("\n")
        forms = tuple(form.strip() for form in heading.split(","))
        with located(file, line):
            if not all((*forms, meaning.strip())):
                raise Mistake("a term has a name, perhaps other forms, and one paragraph that says what it means")
        terms.append(Term(forms, markdown.renderInline(meaning.strip())))
    return terms


def term_finder(terms: list[Term]) -> Callable[[str], str]:
    """A function that gives one page's texts as HTML, in which each term is a button where it first stands."""
    # k, γ and capitals are found as they are (REST is not the rest), others in either case.
    named = {form if is_exact(form) else form.lower(): term.forms[0] for term in terms for form in term.forms}
    forms = [re.escape(form) if is_exact(form) else f"(?i:{re.escape(form)})" for form in sorted(named, key=len)[::-1]]
    # Without terms, what never matches.
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(forms) or '(?!)'})(?![\w-])")
    seen = set()

    def mark(match: re.Match) -> str:
        name = named.get(match[0]) or named[match[0].lower()]
        if name in seen:
            return match[0]
        seen.add(name)
        # A real button would stand apart from a comma.
        about = 'class="dl-term" role="button" tabindex="0" aria-expanded="false" title="What this means"'
        return f'<span {about} data-term="{escape(name)}">{match[0]}</span>'

    return lambda text: pattern.sub(mark, escape(text))


def is_exact(form: str) -> bool:
    return len(form) == 1 or form.isupper()


# What draws a page's Markdown gets what `page_of` gives.
def text_html(_: Any, tokens: Any, index: int, options: Any, page: dict) -> str:
    """Terms are marked only in plain text: no button may stand in a link."""
    text = tokens[index]
    return page["terms"](text.content) if page.get("terms") and not text.level else escape(text.content)


def link_html(_: Any, tokens: Any, index: int, options: Any, page: dict) -> str:
    to = tokens[index].attrs["href"]
    if not to.startswith(("#tab=", "https:")):
        raise Mistake(f'the link "{to}" leads nowhere: a link begins with #tab= or https:')
    return f'<a href="{escape(to)}"{" target=_blank rel=noopener" if to.startswith("https:") else ""}>'


def figure_html(_: Any, tokens: Any, index: int, options: Any, page: dict) -> str:
    value = value_of(tokens[index].content, page["names"])
    if not isinstance(value, str | int):
        raise Mistake(f'say how to write "{tokens[index].content}": {", ".join(FORMS)}')
    return f'<span class="dl-value">{escape(str(value))}</span>'


def code_html(_: Any, tokens: Any, index: int, options: Any, page: dict) -> str:
    return formula_html(tokens[index].content)


def find_figure(state: StateInline, silent: bool) -> bool:
    """Markdown's rule for `{expression}`."""
    found = FIGURE.match(state.src, state.pos)
    if found and not silent:
        state.push("figure", "", 0).content = found[1]
    state.pos = found.end() if found else state.pos
    return bool(found)


FIGURE = re.compile("{([^{}]+)}")
# Paragraphs, lists, links, *em*, **strong** and `formulas`; all else is text.
markdown = MarkdownIt("zero").enable(["list", "emphasis", "backticks", "link"])
markdown.inline.ruler.push("figure", find_figure)
rules = ("text", text_html), ("link_open", link_html), ("figure", figure_html), ("code_inline", code_html)
for kind, html in rules:
    markdown.add_render_rule(kind, html)


def page_of(names: Mapping[str, Any], terms: list[Term]) -> dict:
    """What `markdown` needs to draw a page's texts. names: what expressions may name."""
    return {"names": names, "terms": term_finder(terms)}
