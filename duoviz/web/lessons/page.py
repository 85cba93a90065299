"""One page of a lesson as data: its iteration found, its figures filled in, its question made answerable."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from duoviz.decoding import METHODS
from duoviz.web.lessons import markdown
from duoviz.web.lessons.figures import FIGURES, OF_ITERATION, WITH_READING
from duoviz.web.lessons.glossary import Finder
from duoviz.web.lessons.markdown import Block, Span
from duoviz.web.lessons.placeholders import PLACEHOLDER, Facts, NotInTrace, UnknownPlaceholder, value
from duoviz.web.lessons.predicates import CONDITIONS, FORMS, find, is_condition, is_predicate, matching
from duoviz.web.lessons.source import Line, Option, Page, Question
from duoviz.web.lessons.vocabulary import FIGURE_MARKS, MARKS, PARTS, Mark

TABS = ("live", "compare", "learn", "lab")


@dataclass
class PageReader:
    """Reads one page against a recorded trace.

    facts: what its placeholders are read from. at: the index of the iteration shown, None where the
    trace has none for the page's `at`. finder: of the glossary's terms. lessons: the names that a
    link may lead to.
    """

    page: Page
    facts: Facts
    finder: Finder
    lessons: set[str]
    at: int | None = field(init=False)

    def __post_init__(self) -> None:
        self.at = self.find_iteration()
        if self.at is not None and "at" in self.page.fields:
            self.facts = replace(self.facts, iteration=self.facts.trace["iterations"][self.at])

    def find_iteration(self) -> int | None:
        """A page without `at` shows the whole text, as it is at the end."""
        line = self.page.fields.get("at")
        if line and not is_predicate(line.text):
            raise line.mistake(f'"{line.text}" names no iteration: write {FORMS}.')
        return find(line.text if line else "last", self.facts.trace["iterations"])

    def read(self) -> dict:
        """The page's data; `missing` is a sentence instead of it where the trace does not hold what it shows."""
        highlights = self.highlights()
        marks = [MARKS[name] for name in highlights if name in MARKS]
        parts = {name for name in highlights if name in PARTS} | {mark.part for mark in marks}
        data = {"title": self.page.title.text, "trace": self.facts.method, "at": self.at, "missing": None}
        try:
            if self.at is None:
                raise NotInTrace(f"iteration with “{condition_of(self.page.fields['at'].text)}”")
            for name in highlights:
                self.require(name, MARKS.get(name))
            figure = self.figure()
            if not parts and not figure:
                parts = {"text", "tree"}
            return data | {
                "parts": [PARTS[name] for name in PARTS if name in parts],
                "marks": [mark.lit(self.at) for mark in marks],
                "figure": figure,
                "blocks": self.blocks(self.page.text),
                "question": self.question(parts),
            }
        except NotInTrace as error:
            method = METHODS[self.facts.method].title
            missing = f"The recorded run of {method} has no {error}, so there is nothing to see on this page. Go on."
            nothing = {"parts": [], "marks": [], "figure": None, "blocks": [], "question": None}
            return data | nothing | {"at": 0, "missing": missing}

    def highlights(self) -> list[str]:
        """The parts and marks that the page highlights. Raises LessonError."""
        line = self.page.fields.get("highlight")
        if line is None:
            return []
        names = [name.strip() for name in line.text.split(",")]
        for name in names:
            line.check(name, (*PARTS, *MARKS), f'"{name}" cannot be highlighted')
        return names

    def require(self, name: str, mark: Mark | None) -> None:
        """Raise NotInTrace where the iteration shown has nothing of this kind."""
        if mark and not mark.present(self.facts.trace["iterations"][self.at]):
            raise NotInTrace(f"“{name}” in the iteration shown")

    def figure(self) -> dict | None:
        line = self.page.fields.get("figure")
        if line is None:
            return None
        line.check(line.text, FIGURES, f'there is no figure "{line.text}"')
        if line.text in OF_ITERATION and self.facts.iteration is None:
            raise line.mistake(f'the figure "{line.text}" is of an iteration; give the page an "at".')
        return {"kind": line.text, **FIGURES[line.text](self.facts)}

    def blocks(self, lines: Sequence[Line]) -> list[Block]:
        """Markdown with its placeholders filled in and its terms marked."""
        blocks = markdown.blocks(lines)
        for block in blocks:
            line = block.pop("line")
            if block["kind"] == "paragraph":
                block["spans"] = self.finish(block["spans"], line)
            else:
                block["items"] = [self.finish(spans, line) for spans in block["items"]]
        return blocks

    def inline(self, line: Line) -> list[Span]:
        """A line's spans, finished."""
        return self.finish(markdown.inline(line), line)

    def words(self, line: Line) -> str:
        """A line's text, finished."""
        return "".join(span["text"] for span in self.inline(line))

    def finish(self, spans: list[Span], line: Line) -> list[Span]:
        """Links checked, figures filled in, terms marked."""
        done = []
        for span in spans:
            if span["kind"] == "link":
                span = {**span, "to": self.link(span["to"], line)}
            done += self.filled(span, line)
        return self.finder.mark(done)

    def link(self, to: str, line: Line) -> str:
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
        raise line.mistake(
            f'the link "{to}" leads nowhere; a link is lesson:NAME, lesson:NAME/PAGE, tab:NAME, game:SEED or https.'
        )

    def filled(self, span: Span, line: Line) -> list[Span]:
        """A span cut at its placeholders; each one's value is a span of kind "value"."""
        parts = markdown.cut(span, PLACEHOLDER, lambda match: {"kind": "value", "text": self.value(match[1], line)})
        if any(part["kind"] != "value" and set("{}") & set(part["text"]) for part in parts):
            raise line.mistake("a brace { or } has no partner.")
        return parts

    def value(self, name: str, line: Line) -> str:
        try:
            return value(name, self.facts)
        except UnknownPlaceholder as error:
            raise line.mistake(f"{error}.") from None

    def question(self, parts: set[str]) -> dict | None:
        """The page's question as data: its kind, its text, and what its kind asks for."""
        question = self.page.question
        if question is None:
            return None
        data = {"kind": question.kind, "blocks": self.blocks(question.text)}
        if not data["blocks"]:
            raise question.heading.mistake("the question asks nothing: its text is missing.")
        return data | getattr(self, f"ask_{question.kind}")(question, parts)

    def spans_of(self, question: Question, *names: str) -> dict[str, list[Span]]:
        return {name: self.inline(question.field(name)) for name in names}

    def ask_choose(self, question: Question, parts: set[str]) -> dict:
        """Options marked [x] and [ ], each with its reason; or plain ones and the `answer` that one of them is."""
        if len(question.options) < 2:
            raise question.heading.mistake("a question to choose needs two answers or more.")
        options = self.options_by_answer(question) if "answer" in question.fields else question.options
        for option in options:
            if option.right is None or not option.why.text:
                raise option.text.mistake(
                    'an answer is "- [x] TEXT" or "- [ ] TEXT", and under it, indented, why it is right or wrong.'
                )
        if not any(option.right for option in options):
            raise question.heading.mistake("no answer is the right one; mark it with [x].")
        spans = [{"spans": self.inline(text), "right": right, "why": self.inline(why)} for text, right, why in options]
        return {"options": spans}

    def options_by_answer(self, question: Question) -> list[Option]:
        """The options with what the field `answer` says of them. Raises NotInTrace where it is none of them."""
        answer = self.words(question.fields["answer"])
        marked = [(option.text, self.words(option.text) == answer) for option in question.options]
        if not any(right for _, right in marked):
            raise NotInTrace(f"answer to choose: it would be “{answer}”")
        return [Option(text, right, question.field("right" if right else "wrong")) for text, right in marked]

    def ask_step(self, question: Question, parts: set[str]) -> dict:
        """The reader goes to an iteration; `answer` is a condition."""
        answer = question.field("answer")
        if not is_condition(answer.text):
            known = ", ".join(CONDITIONS)
            raise answer.mistake(f'"{answer.text}" is not a condition of an iteration: choose one of {known}.')
        indices = matching(answer.text, self.facts.trace["iterations"])
        if not indices:
            raise NotInTrace(f"iteration with “{answer.text}”")
        return {"answer": indices} | self.spans_of(question, "right", "wrong")

    def ask_click(self, question: Question, parts: set[str]) -> dict:
        """The reader clicks something; `answer` is what can be highlighted in a part, or a mark of the figure."""
        answer = question.field("answer")
        known: dict[str, Mark] = MARKS | (FIGURE_MARKS if self.figure_name() == "classical rule" else {})
        answer.check(answer.text, known, f'"{answer.text}" cannot be clicked here')
        if answer.text in self.highlights():
            raise answer.mistake(f'"{answer.text}" is highlighted, which gives the answer away.')
        mark = known[answer.text]
        if mark.part in PARTS and mark.part not in parts:
            raise answer.mistake(f'"{answer.text}" is in the part "{mark.part}": highlight it.')
        self.require(answer.text, mark)
        where = {"answer": mark.selector, "choices": mark.choices, "part": PARTS.get(mark.part)}
        return where | self.spans_of(question, "right", "wrong")

    def figure_name(self) -> str | None:
        line = self.page.fields.get("figure")
        return line and line.text

    def ask_drag(self, question: Question, parts: set[str]) -> dict:
        """The reader drags the figure's slider, or one from `from` to `to`; right is what is `within` of the answer."""
        fields = question.fields
        slider = None
        if self.figure_name() not in WITH_READING:
            unit = fields.get("unit")
            ends = {name: self.number(question.field(name)) for name in ("from", "to")}
            slider = ends | {"unit": self.inline(unit) if unit else []}
        elif extra := fields.get("from") or fields.get("to") or fields.get("unit"):
            raise extra.mistake("the figure has its own slider: it needs no from, to or unit.")
        answer = self.number(question.field("answer"))
        within = self.number(fields["within"]) if "within" in fields else 0
        return {"answer": answer, "within": within, "slider": slider} | self.spans_of(question, "right", "low", "high")

    def number(self, line: Line) -> float:
        """A line's number, its placeholders filled in. Raises LessonError."""
        text = self.words(line)
        try:
            return float(text)
        except ValueError:
            raise line.mistake(f'"{text}" is not a number.') from None


def condition_of(predicate: str) -> str:
    """What a predicate asks for, without which of several it takes."""
    for form in ("after first ", "first ", "last ", "most "):
        predicate = predicate.removeprefix(form)
    return predicate
