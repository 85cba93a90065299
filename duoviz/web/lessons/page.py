"""One page of a lesson as data: its iteration found, its texts written, its question made answerable."""

import re
from collections.abc import Collection
from dataclasses import replace

from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.figures import FIGURES
from duoviz.web.lessons.iterations import FIGURE_MARKS, MARKS, PARTS, find, marks_in, matching
from duoviz.web.lessons.text import Mistake, Term, Writer, headed, markdown, one_of

PAGE_FIELDS = ("at", "until", "trace", "highlight", "figure")
BEATS = ("guess", "verdict")
# The fields of each kind of question. All are needed; but one to choose has none where its answers have reasons.
QUESTION_FIELDS = {
    "choose": ("answer", "right", "wrong"),
    "step": ("answer", "right", "wrong"),
    "click": ("answer", "right", "wrong"),
    "drag": ("answer", "within", "right", "low", "high"),
}
QUESTION = "### Question: "
# An answer to choose, and why it is right or wrong in the indented lines under it.
OPTION = re.compile(r"^- (?:\[([ x])\] )?(.+)((?:\n  .+)*)", re.MULTILINE)


def read_page(part: str, facts: Facts, terms: list[Term], lessons: Collection[str]) -> dict:
    """A page's data.

    part: the page as written. facts: of any iteration of the lesson's run. lessons: the names that a link may lead to.
    Raises Mistake.
    """
    told, _, asked = part.partition(f"\n{QUESTION}")
    title, fields, text = headed(told, PAGE_FIELDS)
    until, figure = fields.get("until", "verdict"), fields.get("figure")
    one_of(until, BEATS, f'an iteration is not shown until its "{until}"')
    facts = facts.of(fields["trace"]) if "trace" in fields else facts
    iterations = facts.trace["iterations"]
    # Without `at` the whole text is shown, as it is at the end.
    at = find(fields["at"], iterations) if "at" in fields else len(iterations) - 1
    facts = replace(facts, iteration=iterations[at]) if "at" in fields else facts
    if figure:
        one_of(figure, FIGURES, f'there is no figure "{figure}"')
    writer = Writer(facts.names, terms, lessons)
    return {
        "title": title.removeprefix("## "), "trace": facts.method, "at": at, "until": until,
        **lights(fields.get("highlight", "" if figure else "text, tree"), at, iterations[at]),
        "figure": {"kind": figure} | FIGURES[figure](facts) if figure else None,
        "text": writer.html(text, of=markdown.render),
        "question": question(asked, iterations, at, writer) if asked else None,
    }  # fmt: skip


def lights(highlight: str, at: int, iteration: dict) -> dict:
    """The visualizer's parts that are shown beside the text, and the selectors of what is lit there."""
    names = [name for name in highlight.split(", ") if name]
    for name in names:
        one_of(name, (*PARTS, *MARKS), f'"{name}" cannot be highlighted')
    marks = [MARKS[name] for name in names if is_marked(name, iteration)]
    shown = {*names, *(mark.part for mark in marks)}
    parts = [selector for name, selector in PARTS.items() if name in shown]
    return {"parts": parts, "marks": [mark.lit(at) for mark in marks]}


def is_marked(name: str, iteration: dict) -> bool:
    """Whether this is a mark, and no part. Raises Mistake where the iteration has none of its kind."""
    if name in MARKS and name not in marks_in(iteration):
        raise Mistake(f'there is no "{name}" in the iteration shown')
    return name in MARKS


def question(asked: str, iterations: list[dict], at: int, writer: Writer) -> dict:
    """The page's question: its kind, its text, and what its kind asks for."""
    kind = asked.partition("\n")[0].strip()
    one_of(kind, QUESTION_FIELDS, f'there is no question of the kind "{kind}"')
    _, fields, text = headed(asked, QUESTION_FIELDS[kind])
    missing = [name for name in QUESTION_FIELDS[kind] if name not in fields]
    if missing and (fields or kind != "choose"):
        raise Mistake(f'the question\'s field "{missing[0]}" is missing')
    answers = ""
    if kind == "choose" and (first := OPTION.search(text)):
        text, answers = text[: first.start()], text[first.start() :]
    data: dict = {"kind": kind, "text": writer.html(text, of=markdown.render)}
    if kind == "choose":
        return data | {"options": options(answers, fields, writer)}
    if kind == "step":
        # The reader goes to an iteration; the answer is a condition.
        data["answer"] = matching(fields["answer"], iterations)
    elif kind == "click":
        # The reader clicks what can be highlighted in a part, or a mark of the figure.
        known, name = MARKS | FIGURE_MARKS, fields["answer"]
        one_of(name, known, f'"{name}" cannot be clicked')
        is_marked(name, iterations[at])
        data |= {"answer": known[name].selector, "choices": known[name].choices, "part": PARTS.get(known[name].part)}
    else:
        # The reader drags the figure's slider; right is what is `within` of the answer.
        try:
            data |= {name: float(writer.words(fields[name])) for name in ("answer", "within")}
        except ValueError as error:
            raise Mistake(f"a number is needed: {error}") from None
    return data | {name: writer.html(fields[name]) for name in ("right", "wrong", "low", "high") if name in fields}


def options(text: str, fields: dict[str, str], writer: Writer) -> list[dict]:
    """Answers marked [x] and [ ], each with its reason; or plain ones and the `answer` that one of them is."""
    found = [(said, mark == "x", " ".join(why.split())) for mark, said, why in OPTION.findall(text)]
    if fields:
        answer = writer.words(fields["answer"])
        found = [(said, said == answer, fields["right" if said == answer else "wrong"]) for said, *_ in found]
    if len(found) < 2 or not any(right for _, right, _ in found) or not all(why for *_, why in found):
        raise Mistake(
            "a question to choose needs two answers, of which one is the `answer` or marked [x], and reasons "
            "indented under each"
        )
    return [
        {"html": writer.html(said, terms=False), "right": right, "why": writer.html(why)} for said, right, why in found
    ]
