"""One page of a lesson as data: its iteration found, its figures filled in, its question made answerable."""

import re
from dataclasses import replace

from duoviz.decoding import METHODS
from duoviz.web.lessons.facts import PLACEHOLDER, Facts
from duoviz.web.lessons.figures import FIGURES, OF_ITERATION, WITH_READING
from duoviz.web.lessons.iterations import FIGURE_MARKS, MARKS, PARTS, Mark, find, matching
from duoviz.web.lessons.source import Finder, Mistake, NotInTrace, Span, blocks, cut, inline, one_of, under_heading

PAGE_FIELDS = ("at", "trace", "highlight", "figure")
QUESTION_FIELDS = {
    "choose": ("answer", "right", "wrong"),
    "step": ("answer", "right", "wrong"),
    "click": ("answer", "right", "wrong"),
    "drag": ("answer", "within", "from", "to", "unit", "right", "low", "high"),
}
QUESTION = "### Question:"
# An answer to choose, and why it is right or wrong in the indented lines under it.
OPTION = re.compile(r"^- (?:\[([ x])\] )?(.+)((?:\n  .+)*)", re.MULTILINE)
TABS = ("live", "compare", "learn", "lab")


class PageReader:
    """Reads one page against a recorded trace.

    lines: the page as written. facts: what its figures are read from. finder: of the glossary's terms. lessons: the
    names that a link may lead to. at: the index of the iteration shown; parts: of the visualizer those shown.
    """

    def __init__(self, lines: list[str], facts: Facts, finder: Finder, lessons: set[str]):
        self.title = lines[0].removeprefix("## ").strip()
        end = next((at for at, line in enumerate(lines) if line.startswith(QUESTION)), len(lines))
        if heading := next((line for line in (*lines[1:end], *lines[end + 1 :]) if line.startswith("#")), None):
            raise Mistake('the only headings are "## TITLE" and one "### Question: KIND" under it', heading)
        self.fields, self.text = under_heading(lines[:end], PAGE_FIELDS)
        self.kind = ""
        if end < len(lines):
            self.kind = lines[end].removeprefix(QUESTION).strip()
            one_of(self.kind, QUESTION_FIELDS, f'there is no question of the kind "{self.kind}"', QUESTION)
            self.asks, self.asked = under_heading(lines[end:], QUESTION_FIELDS[self.kind])
        self.facts = facts.of(self.fields["trace"]) if "trace" in self.fields else facts
        self.finder, self.lessons = finder, lessons
        self.highlights = [name.strip() for name in self.fields.get("highlight", "").split(",") if name]
        for name in self.highlights:
            one_of(name, (*PARTS, *MARKS), f'"{name}" cannot be highlighted', "highlight:")
        self.marks = [MARKS[name] for name in self.highlights if name in MARKS]
        self.parts = {name for name in self.highlights if name in PARTS} | {mark.part for mark in self.marks}
        self.at = 0

    def read(self) -> dict:
        """The page's data; `missing` is a sentence instead of it where the trace does not hold what it shows."""
        data = {
            "title": self.title, "trace": self.facts.method, "at": 0, "missing": None,
            "parts": [], "marks": [], "figure": None, "blocks": [], "question": None,
        }  # fmt: skip
        try:
            return data | self.content()
        except NotInTrace as error:
            method = METHODS[self.facts.method].title
            missing = f"The recorded run of {method} has no {error}, so there is nothing to see on this page. Go on."
            return data | {"missing": missing}

    def content(self) -> dict:
        """What the page shows: without `at` the whole text, as it is at the end."""
        iterations = self.facts.trace["iterations"]
        self.at = len(iterations) - 1
        if "at" in self.fields:
            self.at = find(self.fields["at"], iterations)
            self.facts = replace(self.facts, iteration=iterations[self.at])
        for name in self.highlights:
            self.require(name)
        figure = self.figure()
        if not self.parts and not figure:
            self.parts = {"text", "tree"}
        return {
            "at": self.at,
            "parts": [PARTS[name] for name in PARTS if name in self.parts],
            "marks": [mark.lit(self.at) for mark in self.marks],
            "figure": figure,
            "blocks": blocks(self.text, self.finish),
            "question": self.question() if self.kind else None,
        }

    def require(self, name: str) -> None:
        """Raise NotInTrace where the iteration shown has nothing of this kind."""
        if name in MARKS and not MARKS[name].present(self.facts.trace["iterations"][self.at]):
            raise NotInTrace(f"“{name}” in the iteration shown")

    def figure(self) -> dict | None:
        name = self.fields.get("figure")
        if name is None:
            return None
        one_of(name, FIGURES, f'there is no figure "{name}"', "figure:")
        if name in OF_ITERATION and self.facts.iteration is None:
            raise Mistake(f'the figure "{name}" is of an iteration; give the page an "at"', "figure:")
        return {"kind": name, **FIGURES[name](self.facts)}

    def inline(self, text: str) -> list[Span]:
        """A line's spans, finished."""
        return self.finish(inline(text))

    def words(self, text: str) -> str:
        """A line's text, finished."""
        return "".join(span["text"] for span in self.inline(text))

    def finish(self, spans: list[Span]) -> list[Span]:
        """Links checked, placeholders replaced by spans of kind "value", terms marked."""
        done = []
        for span in spans:
            if span["kind"] == "link":
                span = {**span, "to": address_of(span["to"], self.lessons)}
            done += cut(span, PLACEHOLDER, lambda it: {"kind": "value", "text": self.facts.value(it[1])})
        for part in done:
            if part["kind"] != "value" and (alone := re.search(r"\S*[{}]\S*", part["text"])):
                raise Mistake("a brace { or } has no partner", alone[0])
        return self.finder.mark(done)

    def question(self) -> dict:
        """The page's question as data: its kind, its text, and what its kind asks for."""
        asked, answers = "\n".join(self.asked), ""
        if self.kind == "choose" and (first := OPTION.search(asked)):
            asked, answers = asked[: first.start()], asked[first.start() :]
        data = {"kind": self.kind, "blocks": blocks(asked.split("\n"), self.finish)}
        if not data["blocks"]:
            raise Mistake("the question asks nothing: its text is missing", QUESTION)
        if self.kind == "choose":
            return data | {"options": self.options(answers)}
        return data | {"step": self.step, "click": self.click, "drag": self.drag}[self.kind]()

    def field(self, name: str) -> str:
        """A field that the question must have."""
        if name not in self.asks:
            raise Mistake(f'the question\'s field "{name}" is missing', QUESTION)
        return self.asks[name]

    def told(self, *names: str) -> dict[str, list[Span]]:
        return {name: self.inline(self.field(name)) for name in names}

    def options(self, text: str) -> list[dict]:
        """Answers marked [x] and [ ], each with its reason; or plain ones and the `answer` that one of them is."""
        options = [(said, mark == "x", " ".join(why.split())) for mark, said, why in OPTION.findall(text)]
        if "answer" in self.asks:
            answer = self.words(self.asks["answer"])
            marked = [(said, self.words(said) == answer) for said, _, _ in options]
            if not any(right for _, right in marked):
                raise NotInTrace(f"answer to choose: it would be “{answer}”")
            options = [(said, right, self.field("right" if right else "wrong")) for said, right in marked]
        if wrong := OPTION.sub("", text).strip() or next((said for said, _, why in options if not why), ""):
            message = 'an answer is "- [x] TEXT" or "- [ ] TEXT", and under it, indented, why it is right or wrong'
            raise Mistake(message, wrong.partition("\n")[0])
        if len(options) < 2 or not any(right for _, right, _ in options):
            raise Mistake("a question to choose needs two answers or more; mark the right one with [x]", QUESTION)
        return [{"spans": self.inline(said), "right": right, "why": self.inline(why)} for said, right, why in options]

    def step(self) -> dict:
        """The reader goes to an iteration; `answer` is a condition."""
        indices = matching(self.field("answer"), self.facts.trace["iterations"])
        return {"answer": indices} | self.told("right", "wrong")

    def click(self) -> dict:
        """The reader clicks something; `answer` is what can be highlighted in a part, or a mark of the figure."""
        answer, written = self.field("answer"), f"answer: {self.field('answer')}"
        known: dict[str, Mark] = MARKS | (FIGURE_MARKS if self.fields.get("figure") == "classical rule" else {})
        one_of(answer, known, f'"{answer}" cannot be clicked here', written)
        if answer in self.highlights:
            raise Mistake(f'"{answer}" is highlighted, which gives the answer away', written)
        mark = known[answer]
        if mark.part in PARTS and mark.part not in self.parts:
            raise Mistake(f'"{answer}" is in the part "{mark.part}": highlight it', written)
        self.require(answer)
        where = {"answer": mark.selector, "choices": mark.choices, "part": PARTS.get(mark.part)}
        return where | self.told("right", "wrong")

    def drag(self) -> dict:
        """The reader drags the figure's slider, or one from `from` to `to`; right is what is `within` of the answer."""
        slider = None
        if self.fields.get("figure") not in WITH_READING:
            ends = {name: self.number(self.field(name)) for name in ("from", "to")}
            slider = ends | {"unit": self.inline(self.asks.get("unit", ""))}
        answer, within = self.number(self.field("answer")), self.number(self.asks.get("within", "0"))
        return {"answer": answer, "within": within, "slider": slider} | self.told("right", "low", "high")

    def number(self, text: str) -> float:
        """A number as written or computed. Raises Mistake."""
        try:
            return float(self.words(text))
        except ValueError:
            raise Mistake(f'"{text}" is not a number', text) from None


def address_of(to: str, lessons: set[str]) -> str:
    """`lesson:NAME`, `lesson:NAME/PAGE`, `tab:NAME`, `game:SEED` or an https address, as an address. Raises Mistake."""
    kind, _, name = to.partition(":")
    lesson, _, number = name.partition("/")
    if kind == "lesson" and lesson in lessons and (not number or number.isdigit()):
        return f"#tab=learn&lesson={lesson}&page={number or 1}"
    if kind == "tab" and name in TABS:
        return f"#tab={name}"
    if kind == "game" and name.isdecimal():
        return f"#tab=learn&draft={name}"
    if kind == "https":
        return to
    raise Mistake(
        f'the link "{to}" leads nowhere; a link is lesson:NAME, lesson:NAME/PAGE, tab:NAME, game:SEED or https', to
    )
