"""Lessons become plain data, and each mistake is named with file and line."""

import re
from types import SimpleNamespace

import pytest

from duoviz.web.lessons.course import read_course, read_lesson
from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.figures import draws
from duoviz.web.lessons.text import Mistake, Term, read_glossary, term_finder
from tests.web.lessons.made import LESSON, duo_trace, vanilla_trace, words, write_lesson, write_traces

TRACES = {"duodecoding": duo_trace(), "vanilla": vanilla_trace()}
TERMS = [Term(("draft", "drafts", "draft model"), "It guesses."), Term(("k",), "")]
FRONT = LESSON.partition("\n## First page")[0]


def read(folder, text):
    return read_lesson(write_lesson(folder, text), Facts(TRACES, "vanilla"), TERMS)


def page(folder, text, front=FRONT):
    """The data of one page."""
    (found,) = read(folder, f"{front}## Page\n{text}")["pages"]
    return found


def terms(html):
    return re.findall('data-term="(.*?)">(.*?)<', html)


def test_a_lesson_as_data(tmp_path):
    lesson = read(
        tmp_path, LESSON.replace("prompt: Why?", "prompt: Why?\nwatch: The tree.\nread: [A paper](https://x.org/a)")
    )
    (first,) = lesson.pop("pages")
    assert lesson == {
        "name": "a-lesson",
        "title": "A lesson",
        "summary": "About guesses.",
        "live": "#tab=live&method=speculative&temperature=0.5&prompt=Why%3F&autoplay=true",
        "watch": "The tree.",
        "minutes": 1,
        "read": '<a href="https://x.org/a" target=_blank rel=noopener>A paper</a>',
    }
    text = first.pop("text")
    assert first == {
        "title": "First page", "trace": "duodecoding", "at": 3, "until": "verdict",
        "parts": [".dv-tree", ".dv-legend"], "marks": ['.dv-node[data-status="rejected"]'], "figure": None,
        "question": None, "solution": None,
    }  # fmt: skip
    assert words(text) == "The draft proposed “and”." and terms(text) == [("draft", "draft")]
    assert '<span class="dl-value">“and”</span>.</p>' in text


FORMULA = (
    '<math displaystyle="true"><mrow><mi>a</mi></mrow><mo>=</mo><mfrac>'
    "<mrow><mn>1</mn><mo>+</mo><msup><mi>α</mi><mrow><mi>γ</mi><mo>+</mo><mn>1</mn></mrow></msup></mrow>"
    "<mrow><mi>T</mi><mo stretchy=false>(</mo><mn>2</mn><mo stretchy=false>)</mo><mo>/</mo><mi>r</mi></mrow>"
    "</mfrac></math>"
)


def test_text_is_paragraphs_lists_styles_and_links(tmp_path):
    text = "One *two* **three** `a = (1 + αᵞ⁺¹) / T(2)/r` {sequences}\n"
    text += "next [go](#tab=learn&lesson=b&page=2) [lab](#tab=lab) [there](https://x.y)\n\n"
    text += "- a\n- b {tau | fixed(2)}\n"
    assert page(tmp_path, "at: first hit\n\n" + text)["text"] == (
        "<p>One <em>two</em> <strong>three</strong> " + FORMULA + ' <span class="dl-value">3</span>\nnext '
        '<a href="#tab=learn&amp;lesson=b&amp;page=2">go</a> <a href="#tab=lab">lab</a> '
        '<a href="https://x.y" target=_blank rel=noopener>there</a></p>\n'
        '<ul>\n<li>a</li>\n<li>b <span class="dl-value">1.20</span></li>\n</ul>\n'
    )


def test_markup_stays_text(tmp_path):
    """In the lesson and in what was recorded, where what looks like Markdown is none either."""
    hostile = "<img src=x onerror=alert(1)> &amp; <b>x</b>"
    found = page(tmp_path, f"\n{hostile} {{'<i>*a* [b](c:d) draft'}}\n")["text"]
    assert words(found) == f"{hostile} <i>*a* [b](c:d) draft"
    assert re.findall("<.*?>", found) == ["<p>", '<span class="dl-value">', "</span>", "</p>"]


@pytest.mark.parametrize("words, asked, minutes", [(200, "", 1), (201, "", 2), (199, "### Question: step\n", 2)])
def test_a_lesson_takes_as_long_as_its_words_and_its_question(tmp_path, words, asked, minutes):
    asked += "answer: hit\nright: r\nwrong: w\n\nx\n" if asked else ""
    lesson = read(tmp_path, f"{FRONT}## Page\n\n{'*word* ' * words}\n\n{asked}")
    assert lesson["minutes"] == minutes


def test_a_term_is_marked_where_it_first_stands_on_a_page(tmp_path):
    text = page(tmp_path, "\n[k](#tab=lab) A draft model drafts. Kept k, K and a DRAFT; draft-like.\n")["text"]
    assert terms(text) == [("draft", "draft model"), ("k", "k")]
    both = term_finder([Term(("REST",), ""), Term(("the end", "draft"), "")])
    assert terms(both("The rest of DRAFT, REST and THE END.")) == [("the end", "DRAFT"), ("REST", "REST")]
    assert term_finder([])("draft <") == "draft &lt;"


def test_a_page_without_at_shows_the_end_and_one_may_name_its_own_trace(tmp_path):
    found = page(tmp_path, "trace: vanilla\n\n{tps | fixed(1)} {duodecoding.tps | fixed(1)}\n")
    assert (found["at"], words(found["text"])) == (6, "50.0 57.7")


def test_the_figure_of_speeds_says_why_and_one_of_the_target_s_costs_is_silent_about_the_draft(tmp_path):
    vanilla, duo = page(tmp_path, "figure: speeds\n\nx\n")["figure"]["runs"]
    assert vanilla == {
        "method": "vanilla", "title": "Vanilla", "tps": pytest.approx(50), "tau": 1, "rows": 1,
        "iteration": pytest.approx(0.02), "device": "core 1", "lab": None,
    }  # fmt: skip
    # 84 ms for four forwards of 2, 1, 3 and 2 tokens.
    assert (duo["title"], duo["rows"], duo["iteration"]) == ("DuoDecoding", 2, pytest.approx(0.021))
    assert set(page(tmp_path, "figure: target costs\n\nx\n")["figure"]) == {"kind", "target", "target_device"}


def test_a_solution_is_apart_from_the_text_and_the_question(tmp_path):
    asked = "### Question: step\nanswer: hit\nright: r\nwrong: w\n\nGo.\n"
    for question in ("", asked):
        found = page(tmp_path, f"\nText.\n\n{question}\n### Solution\n\n- {{log(1) | fixed(1)}}\n")
        said = [words(html) for html in (found["text"], (found["question"] or {"text": ""})["text"], found["solution"])]
        assert said == ["Text.", "Go." if question else "", "0.0"]


# What is asked of a page that shows the first rejection, and the data of it.
QUESTIONS = [
    ("choose\n\nWhich?\n\n- [ ] One\n  No,\n  not it.\n- [x] Two *k*\n  Yes: {discarded}.\n", {
        "text": "Which?", "options": [("One", False, "No, not it."), ("Two k", True, "Yes: 2.")],
    }),
    ("choose\nanswer: phi() | fixed(2)\nright: r {same_text()}\nwrong: w\n\nOf two?\n- 1.15\n- no\n", {
        "text": "Of two?", "options": [("1.15", True, "r 0"), ("no", False, "w")],
    }),
    ("step\nanswer: draft_steps > 1\nright: r\nwrong: w\n\nGo.\n", {
        "text": "Go.", "answer": [1, 2, 3], "right": "r", "wrong": "w",
    }),
    ("click\nanswer: discarded\nright: r\nwrong: w\n\nClick.\n", {
        "text": "Click.", "answer": '.dv-node[data-status="discarded"]', "choices": ".dv-node", "part": ".dv-tree",
        "right": "r", "wrong": "w",
    }),
    ("number\nanswer: 1 / steps_that_fit(1)\nwithin: 0.1\nright: r\nlow: l\nhigh: h\n\nHow?\n", {
        "text": "How?", "answer": 0.2, "within": 0.1, "right": "r", "low": "l", "high": "h",
    }),
]  # fmt: skip


@pytest.mark.parametrize("text, expected", QUESTIONS)
def test_a_question_as_data(tmp_path, text, expected):
    asked = page(tmp_path, f"at: first rejection\nhighlight: tree\n\n### Question: {text}")["question"]
    asked["text"] = words(asked["text"])
    if "options" in asked:
        asked["options"] = [(words(each["html"]), each["right"], words(each["why"])) for each in asked["options"]]
    assert asked == {"kind": text.split()[0]} | expected


SAID = "right: r\nwrong: w\n"
Q = "at: first miss\nhighlight: tree\n\nText.\n\n### Question: "
HIGH = "right: r\nlow: l\nhigh: h\n"
# A page's text, and what is said of its mistake.
PAGES = [
    ("at: third hit\n\nx\n", '"third hit" names no iteration'),
    ("at: first rejectoin\n\nx\n", "\"rejectoin\" cannot be computed: 'rejectoin' is undefined; see README.md"),
    ("color: red\n\nx\n", 'there is no field "color" here: choose one of at, until, trace, highlight, figure.'),
    ("at:\n\nx\n", '"at:" is not a field; a field is a name, ": " and its value'),
    ("trace: magic\n\nx\n", 'there is no method "magic": choose one of vanilla'),
    ("trace: rest\n\nx\n", "there is no recorded run of rest yet"),
    ("until: never\n\nx\n", 'an iteration is not shown until its "never": choose one of guess, verdict'),
    ("highlight: tree, leaf\n\nx\n", '"leaf" cannot be highlighted: choose one of numbers'),
    ("figure: curve\n\nx\n", 'there is no figure "curve": choose one of costs'),
    ("figure: threshold\n\nx\n", 'the figure "threshold" needs an "at" with a threshold.'),
    ("at: first rejection and iteration.verdict.accepted\n\nx\n", 'no iteration for "rejection and iteration.'),
    ("at: most likely_first_token\ntrace: vanilla\n\nx\n", 'has no iteration for "most likely_first_token"'),
    ("at: last\n\n{iteration.theta | fixed(3)}\n", '"iteration.theta | fixed(3)" cannot be computed'),
    ("trace: vanilla\nfigure: costs\n\nx\n", "the run of vanilla has no calibration"),
    ("figure: coupled draws\n\nx\n", "both models' probabilities are not recorded"),
    ("\nx\ny {magic}\n", "\"magic\" cannot be computed: 'magic' is undefined"),
    ("\n{tps +}\n", '"tps +" cannot be computed: unexpected'),
    *((f"\n[x]({to})\n", f'the link "{to}" leads nowhere') for to in ("http://y.z", "lesson:b")),
    (Q + "guess\n\nx?\n", 'there is no question of the kind "guess": choose one of choose'),
    (Q + "step\nanswer: first hit\n" + SAID + "\nx?\n", '"first hit" cannot be computed'),
    (Q + "step\n" + SAID + "\nx?\n", 'the field "answer" is missing'),
    (Q + "click\nanswer: leaf\n" + SAID + "\nx?\n", '"leaf" cannot be clicked'),
    (Q + "number\nanswer: prompt\nwithin: 1\n" + HIGH + "\nx?\n", "unsupported operand"),
    (Q + "choose\n\nx?\n\n- [x] One\n  y\n", "needs two answers"),
    (Q + "choose\n\nx?\n\n- [x] One\n  y\n- [ ] Two\n", "reasons indented under each"),
    (Q + "choose\n\nx?\n\n- [ ] One\n  y\n- [ ] Two\n  z\n", "the `answer` or marked [x]"),
    (Q + "choose\nanswer: One\nright: r\n\nx?\n\n- One\n- Two\n", 'the field "wrong" is missing'),
]  # fmt: skip
# What is changed in the lesson as it should be, into what, and what is said.
FRONTS = [
    (LESSON, "", 'a lesson begins with a line "---"'),
    ("---\ntitle", "title", 'a lesson begins with a line "---"'),
    (LESSON, FRONT, 'and then pages, "## TITLE"'),
    ("title: A lesson\n", "", 'the field "title" is missing'),
    ("title: A lesson", "titel: A lesson", 'there is no field "titel" here: choose one of title'),
    ("summary", "read: [x](http://y.z)\nsummary", 'the link "http://y.z" leads nowhere'),
    ("trace: duodecoding", "trace: magic", 'there is no method "magic"'),
    ("temperature=0.5", "temperature=[", "live: while parsing a flow node"),
    ("temperature=0.5", "temperature", "live: Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0."),
    ("temperature=0.5", "magic=1", 'live: there is no setting "magic": choose one of method'),
    ("method=speculative", "method=magic", "live: There is no method named 'magic'"),
]
MISTAKES = [*((f"{FRONT}## Page\n{text}", 8, said) for text, said in PAGES)]
MISTAKES += [(LESSON.replace(old, new), 1, said) for old, new, said in FRONTS]


@pytest.mark.parametrize("text, line, said", MISTAKES)
def test_a_mistake_is_named_with_file_and_line(tmp_path, text, line, said):
    with pytest.raises(Mistake) as error:
        read(tmp_path / "lessons", text)
    assert str(error.value).startswith(f"lessons/01-a-lesson.md:{line}: ")
    assert said in str(error.value)


@pytest.fixture
def course(tmp_path):
    """Reads the lessons with these texts, by their files' names."""
    traces = write_traces(tmp_path / "traces", *TRACES.values())

    def read(files):
        for name, text in files.items():
            write_lesson(tmp_path / "lessons", text, name=name)
        return read_course(tmp_path / "lessons", traces)

    return read


def test_a_course_leaves_out_what_is_wrong_and_says_so(course, caplog):
    wrong = LESSON.replace("{rejected_token | quoted}", "{magic}")
    files = {"02-b.md": LESSON, "01-a.md": LESSON, "04-c.md": wrong, "README.md": "# None"}
    found = course(files | {"glossary.md": "## draft, drafts\nIt *guesses*.\n"})
    assert [lesson["name"] for lesson in found.lessons] == ["a", "b"]
    assert found.glossary == [{"name": "draft", "html": "It <em>guesses</em>."}]
    (undefined,) = found.mistakes
    assert undefined.startswith('lessons/04-c.md:9: "magic" cannot be computed') and undefined in caplog.text


def test_a_broken_file_leaves_the_rest(course, tmp_path):
    (tmp_path / "traces" / "vanilla.duoviz.json").write_text("{}")
    found = course({"01-a.md": LESSON, "glossary.md": "## draft\n"})
    assert [lesson["name"] for lesson in found.lessons] == ["a"] and not found.glossary
    trace, glossary = found.mistakes
    assert "vanilla.duoviz.json is not a trace" in trace and glossary.startswith("lessons/glossary.md:1: a term has")


def test_without_recordings_each_lesson_says_what_it_needs(tmp_path):
    write_lesson(tmp_path / "lessons")
    (mistake,) = read_course(tmp_path / "lessons", tmp_path).mistakes
    assert mistake.startswith("lessons/01-a-lesson.md:1: there is no recorded run of duodecoding yet")


@pytest.mark.parametrize(
    "text, line",
    [("## b\nx\n\n## a,\nx\n", 4), ("## a\n", 1)],
)
def test_a_mistake_in_the_glossary_is_named(tmp_path, text, line):
    with pytest.raises(Mistake, match=f"glossary.md:{line}: "):
        read_glossary(write_lesson(tmp_path, text, name="glossary.md"))


def test_the_draws_have_the_likely_tokens_alone_with_their_probabilities_among_them():
    sure = [{"text": " is", "p": 0.9, "q": 0.5}, {"text": " was", "p": 0.1, "q": 0.5}]
    unsure = [(" a", 0.4, 0.3), (" the", 0.4, 0.1), (" that", 0.0, 0.4), (" so", 0.01, 0.01)]
    places = [sure, [{"text": text, "p": p, "q": q} for text, p, q in unsure]]
    found = draws(SimpleNamespace(places=places))
    shown = [(each["text"], pytest.approx(each["p"]), pytest.approx(each["q"])) for each in found["outcomes"]]
    assert shown == [(" a", 0.5, 0.375), (" the", 0.5, 0.125), (" that", 0, 0.5)]
    # 0.38 and 0.13, as they are shown.
    assert (found["before"], found["accepted"]) == ("is", pytest.approx(0.5, abs=0.011))
