"""One page of a lesson as data: its iteration found, its figures filled in, its question made answerable."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from duoviz.decoding import METHODS
from duoviz.web.lessons import markdown
from duoviz.web.lessons.figures import FIGURES, OF_ITERATION, WITH_READING
from duoviz.web.lessons.glossary import Finder
from duoviz.web.lessons.markdown import Block, Span
from duoviz.web.lessons.placeholders import PLACEHOLDER, Facts, value
from duoviz.web.lessons.predicates import find, matching
from duoviz.web.lessons.source import QUESTION, Mistake, NotInTrace, Option, Page, Question, one_of
from duoviz.web.lessons.vocabulary import FIGURE_MARKS, MARKS, PARTS, Mark

TABS = ("live", "compare", "learn", "lab")


@dataclass
class PageReader:
    """Reads one page against a recorded trace.

    facts: what its placeholders are read from. finder: of the glossary's terms. lessons: the names that a
    link may lead to. at: the index of the iteration shown, parts: of the visualizer those shown, as `read` finds them.
    """

    page: Page
    facts: Facts
    finder: Finder
    lessons: set[str]
    at: int = 0
    parts: set[str] = field(default_factory=set)

    def read(self) -> dict:
        """The page's data; `missing` is a sentence instead of it where the trace does not hold what it shows."""
        highlights = self.highlights()
        marks = [MARKS[name] for name in highlights if name in MARKS]
        self.parts = {name for name in highlights if name in PARTS} | {mark.part for mark in marks}
        data = {
            "title": self.page.title, "trace": self.facts.method, "at": 0, "missing": None,
            "parts": [], "marks": [], "figure": None, "blocks": [], "question": None,
        }  # fmt: skip
        try:
            self.find_iteration()
            for name in highlights:
                self.require(name, MARKS.get(name))
            figure = self.figure()
            if not self.parts and not figure:
                self.parts = {"text", "tree"}
            return data | {
                "at": self.at,
                "parts": [PARTS[name] for name in PARTS if name in self.parts],
                "marks": [mark.lit(self.at) for mark in marks],
                "figure": figure,
                "blocks": self.blocks(self.page.text),
                "question": self.question(),
            }
        except NotInTrace as error:
            method = METHODS[self.facts.method].title
            missing = f"The recorded run of {method} has no {error}, so there is nothing to see on this page. Go on."
            return data | {"missing": missing}

    def find_iteration(self) -> None:
        """A page without `at` shows the whole text, as it is at the end."""
        iterations = self.facts.trace["iterations"]
        if "at" in self.page.fields:
            self.at = find(self.page.fields["at"], iterations)
            self.facts = replace(self.facts, iteration=iterations[self.at])
        else:
            self.at = len(iterations) - 1

    def highlights(self) -> list[str]:
        """The parts and marks that the page highlights. Raises Mistake."""
        if "highlight" not in self.page.fields:
            return []
        names = [name.strip() for name in self.page.fields["highlight"].split(",")]
        for name in names:
            one_of(name, (*PARTS, *MARKS), f'"{name}" cannot be highlighted', "highlight:")
        return names

    def require(self, name: str, mark: Mark | None) -> None:
        """Raise NotInTrace where the iteration shown has nothing of this kind."""
        if mark and not mark.present(self.facts.trace["iterations"][self.at]):
            raise NotInTrace(f"“{name}” in the iteration shown")

    def figure(self) -> dict | None:
        name = self.page.fields.get("figure")
        if name is None:
            return None
        one_of(name, FIGURES, f'there is no figure "{name}"', "figure:")
        if name in OF_ITERATION and self.facts.iteration is None:
            raise Mistake(f'the figure "{name}" is of an iteration; give the page an "at"', "figure:")
        return {"kind": name, **FIGURES[name](self.facts)}

    def blocks(self, lines: Sequence[str]) -> list[Block]:
        """Markdown with its placeholders filled in and its terms marked."""
        blocks = markdown.blocks(lines)
        for block in blocks:
            if block["kind"] == "paragraph":
                block["spans"] = self.finish(block["spans"])
            else:
                block["items"] = [self.finish(spans) for spans in block["items"]]
        return blocks

    def inline(self, text: str) -> list[Span]:
        """A line's spans, finished."""
        return self.finish(markdown.inline(text))

    def words(self, text: str) -> str:
        """A line's text, finished."""
        return "".join(span["text"] for span in self.inline(text))

    def finish(self, spans: list[Span]) -> list[Span]:
        """Links checked, placeholders replaced by spans of kind "value", terms marked."""
        done = []
        for span in spans:
            if span["kind"] == "link":
                span = {**span, "to": self.link(span["to"])}
            done += markdown.cut(
                span, PLACEHOLDER, lambda match: {"kind": "value", "text": value(match[1], self.facts)}
            )
        for part in done:
            if part["kind"] != "value" and (alone := re.search(r"\S*[{}]\S*", part["text"])):
                raise Mistake("a brace { or } has no partner", alone[0])
        return self.finder.mark(done)

    def link(self, to: str) -> str:
        """`lesson:NAME`, `lesson:NAME/PAGE`, `tab:NAME`, `game:SEED` or an https address, as an address."""
        kind, _, name = to.partition(":")
        lesson, _, number = name.partition("/")
        if kind == "lesson" and lesson in self.lessons and (not number or number.isdigit()):
            return f"#tab=learn&lesson={lesson}&page={number or 1}"
        if kind == "tab" and name in TABS:
            return f"#tab={name}"
        if kind == "game" and name.isdecimal():
            return f"#tab=learn&draft={name}"
        if kind == "https":
            return to
        form = "lesson:NAME, lesson:NAME/PAGE, tab:NAME, game:SEED or https"
        raise Mistake(f'the link "{to}" leads nowhere; a link is {form}', to)

    def question(self) -> dict | None:
        """The page's question as data: its kind, its text, and what its kind asks for."""
        question = self.page.question
        if question is None:
            return None
        data = {"kind": question.kind, "blocks": self.blocks(question.text)}
        if not data["blocks"]:
            raise Mistake("the question asks nothing: its text is missing", QUESTION)
        return data | getattr(self, f"ask_{question.kind}")(question)

    def spans_of(self, question: Question, *names: str) -> dict[str, list[Span]]:
        return {name: self.inline(question.field(name)) for name in names}

    def ask_choose(self, question: Question) -> dict:
        """Options marked [x] and [ ], each with its reason; or plain ones and the `answer` that one of them is."""
        if len(question.options) < 2:
            raise Mistake("a question to choose needs two answers or more", QUESTION)
        options = self.options_by_answer(question) if "answer" in question.fields else question.options
        for option in options:
            if option.right is None or not option.why:
                message = 'an answer is "- [x] TEXT" or "- [ ] TEXT", and under it, indented, why it is right or wrong'
                raise Mistake(message, option.text)
        if not any(option.right for option in options):
            raise Mistake("no answer is the right one; mark it with [x]", QUESTION)
        spans = [{"spans": self.inline(text), "right": right, "why": self.inline(why)} for text, right, why in options]
        return {"options": spans}

    def options_by_answer(self, question: Question) -> list[Option]:
        """The options with what the field `answer` says of them. Raises NotInTrace where it is none of them."""
        answer = self.words(question.fields["answer"])
        marked = [(option.text, self.words(option.text) == answer) for option in question.options]
        if not any(right for _, right in marked):
            raise NotInTrace(f"answer to choose: it would be “{answer}”")
        return [Option(text, right, question.field("right" if right else "wrong")) for text, right in marked]

    def ask_step(self, question: Question) -> dict:
        """The reader goes to an iteration; `answer` is a condition."""
        indices = matching(question.field("answer"), self.facts.trace["iterations"])
        return {"answer": indices} | self.spans_of(question, "right", "wrong")

    def ask_click(self, question: Question) -> dict:
        """The reader clicks something; `answer` is what can be highlighted in a part, or a mark of the figure."""
        answer = question.field("answer")
        figure = self.page.fields.get("figure")
        known: dict[str, Mark] = MARKS | (FIGURE_MARKS if figure == "classical rule" else {})
        written = f"answer: {answer}"
        one_of(answer, known, f'"{answer}" cannot be clicked here', written)
        if answer in self.highlights():
            raise Mistake(f'"{answer}" is highlighted, which gives the answer away', written)
        mark = known[answer]
        if mark.part in PARTS and mark.part not in self.parts:
            raise Mistake(f'"{answer}" is in the part "{mark.part}": highlight it', written)
        self.require(answer, mark)
        where = {"answer": mark.selector, "choices": mark.choices, "part": PARTS.get(mark.part)}
        return where | self.spans_of(question, "right", "wrong")

    def ask_drag(self, question: Question) -> dict:
        """The reader drags the figure's slider, or one from `from` to `to`; right is what is `within` of the answer."""
        fields = question.fields
        slider = None
        if self.page.fields.get("figure") not in WITH_READING:
            ends = {name: self.number(question.field(name)) for name in ("from", "to")}
            slider = ends | {"unit": self.inline(fields.get("unit", ""))}
        elif extra := next(iter({"from", "to", "unit"} & fields.keys()), None):
            raise Mistake("the figure has its own slider: it needs no from, to or unit", f"{extra}:")
        answer = self.number(question.field("answer"))
        within = self.number(fields["within"]) if "within" in fields else 0
        return {"answer": answer, "within": within, "slider": slider} | self.spans_of(question, "right", "low", "high")

    def number(self, text: str) -> float:
        """A number as written or computed. Raises Mistake."""
        try:
            return float(self.words(text))
        except ValueError:
            raise Mistake(f'"{text}" is not a number', text) from None
