"""Lessons become plain data, and each mistake is named with file and line."""

import json
from string import ascii_lowercase

import pytest

from duoviz.web.lessons import figures
from duoviz.web.lessons.course import read_course, read_lesson
from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.source import Finder, LessonError, Term, read_glossary
from tests.web.lessons.made import LESSON, duo_trace, vanilla_trace, write_lesson, write_traces

TRACES = {"duodecoding": duo_trace(), "vanilla": vanilla_trace()}
TERMS = [Term(("draft", "drafts", "draft model"), [{"kind": "text", "text": "It guesses."}]), Term(("k",), [])]
FRONT = LESSON.partition("\n## First page")[0]


def read(folder, text, names=frozenset({"a-lesson", "b"})):
    return read_lesson("a-lesson", write_lesson(folder, text), Facts(TRACES, "vanilla"), TERMS, names)


def page(folder, text, front=FRONT):
    """The data of one page."""
    (found,) = read(folder, f"{front}## Page\n{text}")["pages"]
    return found


def words(spans):
    return "".join(span["text"] for span in spans)


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
        "read": [{"kind": "link", "to": "https://x.org/a", "text": "A paper"}],
    }
    assert first == {
        "title": "First page", "trace": "duodecoding", "at": 3, "missing": None, "parts": [".dv-tree"],
        "marks": ['.dv-node[data-status="rejected"]'],
        "figure": None, "question": None,
        "blocks": [{"kind": "paragraph", "spans": [
            {"kind": "text", "text": "The "}, {"kind": "term", "text": "draft", "to": "draft"},
            {"kind": "text", "text": " proposed "}, {"kind": "value", "text": "“and”"}, {"kind": "text", "text": "."},
        ]}],
    }  # fmt: skip


def test_text_is_paragraphs_lists_styles_and_links(tmp_path):
    text = "\nOne *two* **three** `{sequences}`\nnext [go](lesson:b/2) [lab](tab:lab) [play](game:7) [out](https://x.org/a)\n"
    text += "\n- a\n- b {tau | fixed(2)}\n\n1. c\n"
    blocks = page(tmp_path, "at: first hit\n" + text)["blocks"]
    assert [block["kind"] for block in blocks] == ["paragraph", "list", "numbers"]
    assert [(span["kind"], span["text"], span.get("to")) for span in blocks[0]["spans"] if span["text"].strip()] == [
        ("text", "One ", None), ("em", "two", None), ("strong", "three", None), ("value", "3", None),
        ("text", " next ", None), ("link", "go", "#tab=learn&lesson=b&page=2"), ("link", "lab", "#tab=lab"),
        ("link", "play", "#tab=learn&draft=7"), ("link", "out", "https://x.org/a"),
    ]  # fmt: skip
    assert [words(item) for item in blocks[1]["items"]] == ["a", "b 1.20"]


def test_markup_stays_text(tmp_path):
    hostile = "<img src=x onerror=alert(1)> &amp; <b>x</b>"
    assert words(page(tmp_path, f"\n{hostile}\n")["blocks"][0]["spans"]) == hostile


def test_a_term_is_marked_where_it_first_stands_on_a_page(tmp_path):
    spans = page(tmp_path, "\nA draft model drafts. Kept k, K and a DRAFT; draft-like.\n")["blocks"][0]["spans"]
    assert [(span["text"], span["to"]) for span in spans if span["kind"] == "term"] == [
        ("draft model", "draft"),
        ("k", "k"),
    ]
    both = Finder([Term(("REST",), []), Term(("the end", "draft"), [])])
    spans = both.mark([{"kind": "text", "text": "The rest of DRAFT, REST and THE END."}])
    assert [(span["text"], span["to"]) for span in spans if span["kind"] == "term"] == [
        ("DRAFT", "the end"),
        ("REST", "REST"),
    ]
    assert Finder([]).mark([{"kind": "text", "text": "draft"}]) == [{"kind": "text", "text": "draft"}]


def test_a_page_without_at_shows_the_end_and_one_may_name_its_own_trace(tmp_path):
    found = page(tmp_path, "trace: vanilla\n\n{tps | fixed(1)} {duodecoding.tps | fixed(1)}\n")
    assert (found["at"], words(found["blocks"][0]["spans"])) == (6, "50.0 57.7")


def test_the_figure_of_speeds_says_why_and_one_of_the_target_s_costs_is_silent_about_the_draft(tmp_path):
    vanilla, duo = page(tmp_path, "figure: speeds\n\nx\n")["figure"]["runs"]
    assert vanilla == {
        "method": "vanilla", "title": "Vanilla", "tps": pytest.approx(50), "tau": 1, "rows": 1,
        "iteration": pytest.approx(0.02), "device": "core 1",
    }  # fmt: skip
    # 84 ms for four forwards of 2, 1, 3 and 2 tokens.
    assert (duo["title"], duo["rows"], duo["iteration"]) == ("DuoDecoding", 2, pytest.approx(0.021))
    assert set(page(tmp_path, "figure: target costs\n\nx\n")["figure"]) == {"kind", "target", "target_device"}


SAID = "right: r\nwrong: w\n"
MISSING = {
    "at: first all accepted\n\nText.\n": "no iteration with “all accepted”",
    "at: most likely first token\ntrace: vanilla\n\nText.\n": "no iteration with “likely first token”",
    "at: last\n\n{iteration.theta | fixed(3)}\n": "no value for “iteration.theta”",
    "trace: vanilla\nfigure: costs\n\nText.\n": "no calibration",
    "at: last\nhighlight: rejected\n\nText.\n": "no “rejected” in the iteration shown",
    "at: last\nfigure: threshold\n\nText.\n": "no threshold there",
    "figure: coupled draws\n\nText.\n": "no place where both models' probabilities are known",
    f"\nx\n\n### Question: step\nanswer: some accepted\n{SAID}\nGo.\n": "no iteration with “some accepted”",
    f"\nx\n\n### Question: choose\nanswer: {{fastest()}}\n{SAID}\nWho?\n\n- SpS\n- PLD\n": "no answer to choose",
}


@pytest.mark.parametrize("text", MISSING)
def test_what_the_trace_does_not_hold_leaves_a_sentence(tmp_path, text):
    found = page(tmp_path, text)
    assert f"has {MISSING[text]}" in found["missing"]
    assert (found["blocks"], found["question"], found["at"]) == ([], None, 0)


def question(folder, text, before=""):
    return page(folder, f"at: first rejection\nhighlight: tree\n{before}\n### Question: {text}")["question"]


def test_to_choose_with_reasons(tmp_path):
    asked = question(tmp_path, "choose\n\nWhich?\n\n- [ ] One\n  No,\n  not it.\n- [x] Two *k*\n  Yes: {discarded}.\n")
    assert [(words(each["spans"]), each["right"], words(each["why"])) for each in asked["options"]] == [
        ("One", False, "No, not it."),
        ("Two k", True, "Yes: 2."),
    ]
    assert words(asked["blocks"][0]["spans"]) == "Which?"


def test_to_choose_by_a_figure_of_the_traces(tmp_path):
    asked = question(
        tmp_path, "choose\nanswer: {fastest()}\nright: r {fastest()}\nwrong: w\n\nWho?\n- Vanilla\n- DuoDecoding\n"
    )
    assert [(words(each["spans"]), each["right"], words(each["why"])) for each in asked["options"]] == [
        ("Vanilla", False, "w"),
        ("DuoDecoding", True, "r DuoDecoding"),
    ]


def test_to_step_to_click_and_to_drag(tmp_path):
    asked = question(tmp_path, "step\nanswer: discarded tokens\nright: r\nwrong: w\n\nGo.\n")
    assert (asked["answer"], words(asked["right"])) == ([1, 2, 3], "r")
    asked = question(tmp_path, "click\nanswer: discarded\nright: r\nwrong: w\n\nClick.\n")
    selectors = (asked["answer"], asked["choices"], asked["part"])
    assert selectors == ('.dv-node[data-status="discarded"]', ".dv-node", ".dv-tree")
    text = "drag\nanswer: {steps_that_fit(1)}\nwithin: 1\nright: r\nlow: l\nhigh: h\n"
    asked = question(tmp_path, text + "from: 0\nto: 9\nunit: *steps*\n\nDrag.\n")
    assert (asked["answer"], asked["within"], asked["slider"]["from"], asked["slider"]["to"]) == (5, 1, 0, 9)
    asked = question(tmp_path, text + "\nDrag.\n", before="figure: budget\n")
    assert (asked["answer"], asked["slider"]) == (5, None)


Q = "at: first miss\nhighlight: tree\n\nText.\n\n### Question: "
HIGH = "right: r\nlow: l\nhigh: h\n"
# The page's text, the line of its mistake (the page begins in line 8), and what is said.
PAGES = [
    ("at: third hit\n\nx\n", 9, '"third hit" names no iteration'),
    ("at: first rejectoin\n\nx\n", 9, '"rejectoin" is not a condition of an iteration: choose one of hit'),
    ("color: red\n\nx\n", 9, 'there is no field "color" here: choose one of at, trace, highlight, figure.'),
    ("at: last\nat: middle\n\nx\n", 10, 'the field "at" is used twice'),
    ("at:\n\nx\n", 9, '"at:" is not a field; a field is a name, ": " and its value'),
    ("trace: magic\n\nx\n", 9, 'there is no method "magic": choose one of vanilla'),
    ("trace: rest\n\nx\n", 9, "there is no recorded run of rest yet"),
    ("highlight: tree, leaf\n\nx\n", 9, '"leaf" cannot be highlighted: choose one of numbers'),
    ("figure: curve\n\nx\n", 9, 'there is no figure "curve": choose one of costs'),
    ("figure: threshold\n\nx\n", 9, 'the figure "threshold" is of an iteration; give the page an "at".'),
    ("\nx\ny {magic}\n", 11, "{magic} cannot be computed: 'magic' is undefined"),
    ("\n{tps\n", 10, "a brace { or } has no partner"),
    ("\nx\n\n```\ncode\n```\n", 12, "paragraphs, and of lists whose items are one paragraph each"),
    ("\n- a\n  - b\n", 10, "paragraphs, and of lists whose items are one paragraph each"),
    ("\n![x](y.png)\n", 10, "pictures and line breaks have no place"),
    *((f"\n[x]({to})\n", 10, f'the link "{to}" leads nowhere') for to in ("http://y.z", "tab:none", "game:none")),
    ("\n### Heading\n", 10, 'the only headings are "## TITLE" and'),
    (Q + "guess\n\nx?\n", 14, 'there is no question of the kind "guess": choose one of choose'),
    (Q + "step\nanswer: hit\n" + SAID + "\nx?\n\n### Question: step\n", 14, 'the only headings are "## TITLE" and one'),
    (Q + "step\nanswer: hit\n" + SAID, 14, "its text is missing"),
    (Q + "step\nanswer: first hit\n" + SAID + "\nx?\n", 15, '"first hit" is not a condition of an iteration'),
    (Q + "step\n" + SAID + "\nx?\n", 14, 'the question\'s field "answer" is missing'),
    (Q + "click\nanswer: leaf\n" + SAID + "\nx?\n", 15, '"leaf" cannot be clicked here'),
    (Q.replace("tree", "rejected") + "click\nanswer: rejected\n" + SAID + "\nx?\n", 15, "gives the answer away"),
    (Q + "click\nanswer: draft steps\n" + SAID + "\nx?\n", 15, 'is in the part "timeline": highlight it'),
    (Q + "click\nanswer: more likely for the draft\n" + SAID + "\nx?\n", 15, "cannot be clicked here"),
    (Q + "drag\nanswer: 3\n" + HIGH + "\nx?\n", 14, 'the question\'s field "from" is missing'),
    (Q + "drag\nanswer: three\nfrom: 1\nto: 9\n" + HIGH + "\nx?\n", 15, '"three" is not a number'),
    (Q + "choose\n\nx?\n\n- [x] One\n  y\n", 14, "needs two answers or more"),
    (Q + "choose\n\nx?\n\n- [x] One\n  y\n- [ ] Two\n", 20, "under it, indented, why it is right or wrong"),
    (Q + "choose\n\nx?\n\n- [ ] One\n  y\n- [ ] Two\n  z\n", 14, "mark the right one with [x]"),
    (Q + "choose\n\nx?\n\n- [x] One\n  y\n- [ ] Two\n  z\n\nMore.\n", 23, 'an answer is "- [x] TEXT"'),
    (Q + "choose\nanswer: One\nright: r\n\nx?\n\n- One\n- Two\n", 14, 'the question\'s field "wrong" is missing'),
]  # fmt: skip
# What is changed in the lesson as it should be, into what; the line, and what is said.
FRONTS = [
    (LESSON, "", 1, 'a lesson begins with a line "---"'),
    ("---\ntitle", "title", 1, 'a lesson begins with a line "---"'),
    ("## First page", "Text.", 1, 'a lesson begins with a line "---"'),
    (LESSON, FRONT, 1, "the lesson has no page"),
    ("title: A lesson\n", "", 1, 'the field "title" is missing'),
    ("title: A lesson", "titel: A lesson", 2, 'there is no field "titel" here: choose one of title'),
    ("summary", "read: [x](http://y.z)\nsummary", 3, 'the link "http://y.z" leads nowhere'),
    ("trace: duodecoding", "trace: magic", 4, 'there is no method "magic"'),
    ("temperature=0.5", "temperature", 5, "live: Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not ''."),
    ("temperature=0.5", "magic=1", 5, 'there is no setting "magic"'),
    ("method=speculative", "method=magic", 5, "live: There is no method named 'magic'"),
]
MISTAKES = [*((f"{FRONT}## Page\n{text}", line, said) for text, line, said in PAGES)]
MISTAKES += [(LESSON.replace(old, new), line, said) for old, new, line, said in FRONTS]


@pytest.mark.parametrize("text, line, said", MISTAKES)
def test_a_mistake_is_named_with_file_and_line(tmp_path, text, line, said):
    with pytest.raises(LessonError) as error:
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
    files = dict.fromkeys(("02-b.md", "01-a.md", "03-b.md"), LESSON) | {"04-c.md": wrong, "README.md": "# None"}
    found = course(files | {"glossary.md": "## draft, drafts\nIt guesses.\n"})
    assert [lesson["name"] for lesson in found.lessons] == ["a", "b"]
    assert found.glossary == [{"name": "draft", "spans": [{"kind": "text", "text": "It guesses."}]}]
    same, undefined = found.mistakes
    assert same == 'lessons/03-b.md:1: 02-b.md has the name "b" too; rename one.'
    assert undefined.startswith("lessons/04-c.md:13: {magic} cannot be computed") and undefined in caplog.text


def test_a_broken_file_leaves_the_rest(course, tmp_path):
    (tmp_path / "traces" / "vanilla.duoviz.json").write_text("{}")
    write_lesson(tmp_path / "lessons", name="02-b.md").write_bytes(LESSON.encode() + b"\xff")
    found = course({"01-a.md": LESSON, "glossary.md": "## draft\n"})
    assert [lesson["name"] for lesson in found.lessons] == ["a"] and not found.glossary
    trace, glossary, text = found.mistakes
    assert "vanilla.duoviz.json is not a trace" in trace and glossary.startswith("lessons/glossary.md:1: a term has")
    assert text == "lessons/02-b.md:1: this is not UTF-8 text."


def test_without_recordings_each_lesson_says_what_it_needs(tmp_path):
    write_lesson(tmp_path / "lessons")
    (mistake,) = read_course(tmp_path / "lessons", tmp_path).mistakes
    assert mistake.startswith("lessons/01-a-lesson.md:4: there is no recorded run of duodecoding yet")


@pytest.mark.parametrize(
    "text, line",
    [("## b\nx\n\n## a,\nx\n", 4), ("## a\nx\n\ny\n", 1), ("## a\n- x\n", 1)],
)
def test_a_mistake_in_the_glossary_is_named(tmp_path, text, line):
    with pytest.raises(LessonError, match=f"glossary.md:{line}: "):
        read_glossary(write_lesson(tmp_path, text, name="glossary.md"))


def expected(p, q):
    """What both models expected at one place."""
    return [
        {"text": text, "p": p_of, "q": q_of}
        for text, p_of, q_of in zip((f" {letter}" for letter in ascii_lowercase), p, q, strict=False)
    ]


def test_draws_are_at_the_place_where_the_draft_knows_most_and_the_target_is_unsure(course, tmp_path):
    """Of the sure place, one where the draft is wrong and two where it is nearly right, the last one.

    At the third, one that finds everything equally likely would be as good.
    """
    places = [
        expected([0.9, 0.1, 0, 0], [0.9, 0.1, 0, 0]),
        expected([0.5, 0.3, 0.2, 0], [0, 0.1, 0.2, 0.7]),
        expected([0.3, 0.25, 0.25, 0.2], [0.25, 0.25, 0.25, 0.25]),
        expected([0.5, 0.3, 0.125, 0.01], [0.4, 0.4, 0.1, 0.01]),
    ]
    text = TRACES["vanilla"]["end"]["text"]
    for about, known, seen in ((text, places, True), ("Another.", places, False), (text, places[:2], False)):
        (tmp_path / "traces" / "places.json").write_text(json.dumps({"text": about, "places": known}))
        (found,) = course({"01-a.md": f"{FRONT}## Page\nfigure: coupled draws\n\nText.\n"}).lessons[0]["pages"]
        assert bool(found["figure"]) == seen
        if seen:
            *outcomes, rest = found["figure"]["outcomes"]
            assert outcomes == places[3][:3] and found["figure"]["before"] == "a a a"
            assert rest == {"text": None, "p": pytest.approx(0.075), "q": pytest.approx(0.1)}


def test_no_more_draws_are_listed_than_fit_beside_the_text():
    """The likeliest of either model stay, in the place's order."""
    p = [0.2, 0.15, 0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.03, 0.02]
    place = expected(p, [0.1, 0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.3, 0.02])
    assert figures.listed(place) == [*place[:7], place[8]]
