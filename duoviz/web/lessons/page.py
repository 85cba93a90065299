"""One page of a lesson as data: its iteration found, its texts written, its question made answerable."""

import re
from dataclasses import replace

from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.figures import FIGURES
from duoviz.web.lessons.iterations import FIGURE_MARKS, MARKS, PARTS, find, matching
from duoviz.web.lessons.text import Mistake, Term, fields_in, headed, markdown, one_of, page_of, value_of

PAGE_FIELDS = ("at", "until", "trace", "highlight", "figure")
BEATS = ("guess", "verdict")
# The fields of each kind of question. All are needed; but one to choose has none where its answers have reasons.
QUESTION_FIELDS = {
    "choose": ("answer", "right", "wrong"),
    "step": ("answer", "right", "wrong"),
    "click": ("answer", "right", "wrong"),
    "number": ("answer", "within", "right", "low", "high"),
}
REASONS = ("right", "wrong", "low", "high")
QUESTION, SOLUTION = "### Question: ", "### Solution"
# An answer to choose, and why it is right or wrong in the indented lines under it.
OPTION = re.compile(r"^- (?:\[([ x])\] )?(.+)((?:\n  .+)*)", re.MULTILINE)


def read_page(part: str, facts: Facts, terms: list[Term]) -> dict:
    """A page's data. part: the page as written; facts: of any iteration of the lesson's run. Raises Mistake."""
    posed, _, solved = part.partition(f"\n{SOLUTION}\n")
    if QUESTION in solved:
        raise Mistake("a solution comes after the page's question")
    told, _, asked = posed.partition(f"\n{QUESTION}")
    title, lines, text = headed(told)
    fields = fields_in(lines, PAGE_FIELDS)
    until, figure = fields.get("until", "verdict"), fields.get("figure")
    one_of(until, BEATS, f'an iteration is not shown until its "{until}"')
    facts = facts.of(fields["trace"]) if "trace" in fields else facts
    iterations = facts.trace["iterations"]
    # Without `at` the whole text is shown, as it is at the end.
    at = find(fields["at"], iterations) if "at" in fields else len(iterations) - 1
    facts = replace(facts, iteration=iterations[at]) if "at" in fields else facts
    if figure:
        one_of(figure, FIGURES, f'there is no figure "{figure}"')
    drawn = {"kind": figure} | FIGURES[figure](facts) if figure else None
    page = page_of(facts.names | {"figure": drawn}, terms)
    return {
        "title": title.removeprefix("## "), "trace": facts.method, "at": at, "until": until,
        **lights(fields.get("highlight", "" if figure else "text, tree"), at),
        "figure": drawn,
        "text": markdown.render(text, page),
        "question": question(asked, iterations, page) if asked else None,
        "solution": markdown.render(solved, page) if solved else None,
    }  # fmt: skip


def lights(highlight: str, at: int) -> dict:
    """The visualizer's parts that are shown beside the text, and the selectors of what is lit there."""
    names = [name for name in highlight.split(", ") if name]
    for name in names:
        one_of(name, (*PARTS, *MARKS), f'"{name}" cannot be highlighted')
    marks = [MARKS[name] for name in names if name in MARKS]
    shown = {*names, *(mark.part for mark in marks)}
    # The tree comes with its key.
    shown |= {"legend"} if "tree" in shown else set()
    parts = [selector for name, selector in PARTS.items() if name in shown]
    # Of bars, those of the iteration shown alone.
    lit = [selector + f'[data-iteration="{at}"]' * selector.startswith(".dv-bar") for _, selector, _ in marks]
    return {"parts": parts, "marks": lit}


def question(asked: str, iterations: list[dict], page: dict) -> dict:
    """The page's question: its kind, its text, and what its kind asks for."""
    kind, lines, text = headed(asked)
    one_of(kind, QUESTION_FIELDS, f'there is no question of the kind "{kind}"')
    known = QUESTION_FIELDS[kind]
    fields = fields_in(lines, known, known if lines or kind != "choose" else ())
    told, *answers = re.split("^(?=- )", text, maxsplit=1, flags=re.MULTILINE) if kind == "choose" else [text]
    data: dict = {"kind": kind, "text": markdown.render(told, page)}
    reasons = {name: markdown.renderInline(fields[name], page) for name in REASONS if name in fields}
    if kind == "choose":
        return data | {"options": options("".join(answers), fields.get("answer"), reasons, page)}
    if kind == "step":
        # The reader goes to an iteration; the answer is a condition.
        data["answer"] = matching(fields["answer"], iterations)
    elif kind == "click":
        # The reader clicks what can be highlighted in a part, or a mark of the figure.
        marks, name = MARKS | FIGURE_MARKS, fields["answer"]
        one_of(name, marks, f'"{name}" cannot be clicked')
        data |= {"answer": marks[name].selector, "choices": marks[name].choices, "part": PARTS.get(marks[name].part)}
    else:
        # The reader types a number, or drags the figure's slider; within: which share of the answer it may be off. A
        # text, which is no number, cannot be added to one.
        data |= {name: value_of(f"0 + ({fields[name]})", page["names"]) for name in ("answer", "within")}
    return data | reasons


def options(text: str, answer: str | None, reasons: dict[str, str], page: dict) -> list[dict]:
    """Answers marked [x] and [ ], each with its reason; or plain ones, of which one is what `answer` comes to."""
    found = [(said, mark == "x", " ".join(why.split())) for mark, said, why in OPTION.findall(text)]
    if answer:
        right = value_of(answer, page["names"])
        found = [(said, said == right, reasons["right" if said == right else "wrong"]) for said, *_ in found]
    if len(found) < 2 or not any(right for _, right, _ in found) or not all(why for *_, why in found):
        raise Mistake(
            "a question to choose needs two answers, of which one is the `answer` or marked [x], and reasons "
            "indented under each"
        )
    no_terms = page | {"terms": None}
    return [
        {
            "html": markdown.renderInline(said, no_terms), "right": right,
            "why": why if answer else markdown.renderInline(why, page),
        }
        for said, right, why in found
    ]  # fmt: skip
