"""One page of a lesson as data: its iteration found, its texts written, its question made answerable."""

import re
from collections.abc import Collection
from dataclasses import replace

from duoviz.decoding import METHODS
from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.figures import FIGURES, OF_ITERATION
from duoviz.web.lessons.iterations import FIGURE_MARKS, MARKS, PARTS, find, matching
from duoviz.web.lessons.text import Mistake, NotInTrace, Term, Writer, headed, markdown, one_of

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
    """A page's data; `missing` is a sentence instead of it where the trace does not hold what it shows.

    part: the page as written. facts: of any iteration of the lesson's run. lessons: the names that a link may lead to.
    Raises Mistake.
    """
    told, _, asked = part.partition(f"\n{QUESTION}")
    title, fields, text = headed(told, PAGE_FIELDS)
    facts = facts.of(fields["trace"]) if "trace" in fields else facts
    data = {
        "title": title.removeprefix("## "), "trace": facts.method, "at": 0, "missing": None,
        "until": fields.get("until", "verdict"), "parts": [], "marks": [], "figure": None, "text": "", "question": None,
    }  # fmt: skip
    one_of(data["until"], BEATS, f'an iteration is not shown until its "{data["until"]}"')
    try:
        iterations = facts.trace["iterations"]
        # Without `at` the whole text is shown, as it is at the end.
        at = find(fields["at"], iterations) if "at" in fields else len(iterations) - 1
        facts = replace(facts, iteration=iterations[at]) if "at" in fields else facts
        writer = Writer(facts.names, terms, lessons)
        figure = figure_of(fields["figure"], facts) if "figure" in fields else None
        lit = lights(fields.get("highlight", "" if figure else "text, tree"), at, iterations[at])
        told = {"at": at, "figure": figure, "text": writer.html(text, of=markdown.render)}
        return data | lit | told | {"question": question(asked, facts, at, writer) if asked else None}
    except NotInTrace as error:
        method = METHODS[facts.method].title
        missing = f"The recorded run of {method} has no {error}, so there is nothing to see on this page. Go on."
        return data | {"missing": missing}


def lights(highlight: str, at: int, iteration: dict) -> dict:
    """The visualizer's parts that are shown beside the text, and the selectors of what is lit there."""
    names = [name for name in highlight.split(", ") if name]
    for name in names:
        one_of(name, (*PARTS, *MARKS), f'"{name}" cannot be highlighted')
        require(name, iteration)
    marks = [MARKS[name] for name in names if name in MARKS]
    shown = {*names, *(mark.part for mark in marks)}
    return {
        "parts": [selector for name, selector in PARTS.items() if name in shown],
        "marks": [mark.lit(at) for mark in marks],
    }


def require(name: str, iteration: dict) -> None:
    """Raise NotInTrace where the iteration has nothing of this kind."""
    if name in MARKS and not MARKS[name].present(iteration):
        raise NotInTrace(f"“{name}” in the iteration shown")


def figure_of(name: str, facts: Facts) -> dict:
    one_of(name, FIGURES, f'there is no figure "{name}"')
    if name in OF_ITERATION and facts.iteration is None:
        raise Mistake(f'the figure "{name}" is of an iteration; give the page an "at"')
    return {"kind": name, **FIGURES[name](facts)}


def question(asked: str, facts: Facts, at: int, writer: Writer) -> dict:
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
    data = {"kind": kind, "text": writer.html(text, of=markdown.render)}
    if kind == "choose":
        return data | {"options": options(answers, fields, writer)}
    told = {name: writer.html(fields[name]) for name in ("right", "wrong", "low", "high") if name in fields}
    return data | {"step": step, "click": click, "drag": drag}[kind](fields, facts, at, writer) | told


def options(text: str, fields: dict[str, str], writer: Writer) -> list[dict]:
    """Answers marked [x] and [ ], each with its reason; or plain ones and the `answer` that one of them is."""
    found = [(said, mark == "x", " ".join(why.split())) for mark, said, why in OPTION.findall(text)]
    if fields:
        answer = writer.words(fields["answer"])
        found = [(said, said == answer, fields["right" if said == answer else "wrong"]) for said, *_ in found]
        if not any(right for _, right, _ in found):
            raise NotInTrace(f"answer to choose: it would be “{answer}”")
    if len(found) < 2 or not any(right for _, right, _ in found) or not all(why for *_, why in found):
        raise Mistake("a question to choose needs two answers, a right one marked [x], and reasons indented under each")
    return [
        {"html": writer.html(said, terms=False), "right": right, "why": writer.html(why)} for said, right, why in found
    ]


def step(fields: dict[str, str], facts: Facts, at: int, writer: Writer) -> dict:
    """The reader goes to an iteration; `answer` is a condition."""
    return {"answer": matching(fields["answer"], facts.trace["iterations"])}


def click(fields: dict[str, str], facts: Facts, at: int, writer: Writer) -> dict:
    """The reader clicks something; `answer` is what can be highlighted in a part, or a mark of the figure."""
    known, name = MARKS | FIGURE_MARKS, fields["answer"]
    one_of(name, known, f'"{name}" cannot be clicked')
    require(name, facts.trace["iterations"][at])
    return {"answer": known[name].selector, "choices": known[name].choices, "part": PARTS.get(known[name].part)}


def drag(fields: dict[str, str], facts: Facts, at: int, writer: Writer) -> dict:
    """The reader drags the figure's slider; right is what is `within` of the answer."""
    try:
        return {name: float(writer.words(fields[name])) for name in ("answer", "within")}
    except ValueError as error:
        raise Mistake(f"a number is needed: {error}") from None
