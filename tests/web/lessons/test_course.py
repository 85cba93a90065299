"""Lessons become plain data, and each mistake is named with file and line."""

import json
import logging
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
    return read_lesson(write_lesson(folder, text), Facts(TRACES, "vanilla"), TERMS, names)


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
    ("\nx\n\n```\ncode\n```\n", 12, "paragraphs and simple lists only"),
    ("\n> quote\n", 10, "paragraphs and simple lists only"),
    ("\n- a\n  - b\n", 10, "a list item is one paragraph"),
    ("\n![x](y.png)\n", 10, "pictures and line breaks have no place"),
    ("\n[x](http://y.z)\n", 10, 'the link "http://y.z" leads nowhere'),
    ("\n[x](tab:none)\n", 10, 'the link "tab:none" leads nowhere'),
    ("\n[x](game:none)\n", 10, 'the link "game:none" leads nowhere'),
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
    (Q + "drag\nanswer: 3\nright: r\nlow: l\nhigh: h\n\nx?\n", 14, 'the question\'s field "from" is missing'),
    (Q + "drag\nanswer: three\nfrom: 1\nto: 9\nright: r\nlow: l\nhigh: h\n\nx?\n", 15, '"three" is not a number'),
    ("figure: costs\n\n### Question: drag\nanswer: 3\nto: 9\n\nx?\n", 13, "the figure has its own slider"),
    (Q + "choose\n\nx?\n\n- [x] One\n  y\n", 14, "needs two answers or more"),
    (Q + "choose\n\nx?\n\n- [x] One\n  y\n- [ ] Two\n", 20, "under it, indented, why it is right or wrong"),
    (Q + "choose\n\nx?\n\n- [ ] One\n  y\n- [ ] Two\n  z\n", 14, "no answer is the right one"),
    (Q + "choose\n\nx?\n\n- [ ] One\n  y\n\nMore text.\n", 21, "after the answers there can only be answers"),
    (Q + "choose\nanswer: One\nright: r\n\nx?\n\n- One\n- Two\n", 14, 'the question\'s field "wrong" is missing'),
]  # fmt: skip


def changed(old, new):
    assert old in LESSON
    return LESSON.replace(old, new)


FRONTS = [
    ("", 1, 'a lesson begins with a line "---"'),
    (LESSON.removeprefix("---\n"), 1, 'a lesson begins with a line "---"'),
    (FRONT, 1, "the lesson has no page"),
    (changed("## First page", "Text.\n\n## First page"), 9, "text before the first page"),
    (changed("title: A lesson\n", ""), 1, 'the field "title" is missing'),
    (changed("title: A lesson", "titel: A lesson"), 2, 'there is no field "titel" here: choose one of title'),
    (changed("title: A lesson", "title"), 2, '"title" is not a field'),
    (
        changed("title: A lesson", "title: A lesson\nread: [x](tab:live)"),
        3,
        '"tab:live" is not an https',
    ),
    (changed("title: A lesson", "title: A {method} lesson"), 2, "a title, a summary or what to watch has no"),
    (changed("summary: About guesses.", "summary: {tau}"), 3, "a title, a summary or what to watch has no"),
    (changed("## First page", "## First {k} page"), 9, "a title, a summary or what to watch has no"),
    (changed("trace: duodecoding", "trace: magic"), 4, 'there is no method "magic"'),
    (changed("live: method=speculative temperature=0.5\n", ""), 5, 'the field "prompt" is for "live"'),
    (changed("temperature=0.5", "temperature"), 5, '"temperature" is not NAME=VALUE'),
    (changed("temperature=0.5", "method=rest"), 5, "its name is used twice"),
    (
        changed("temperature=0.5", "temperature=9"),
        5,
        "live: Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not 9.",
    ),
    (changed("temperature=0.5", "magic=1"), 5, "live: There is no setting 'magic'."),
    (changed("method=speculative", "method=magic"), 5, "live: There is no method named 'magic'"),
]


MISTAKES = [*((f"{FRONT}## Page\n{text}", line, said) for text, line, said in PAGES), *FRONTS]


@pytest.mark.parametrize("text, line, said", MISTAKES)
def test_a_mistake_is_named_with_file_and_line(tmp_path, text, line, said):
    with pytest.raises(LessonError) as error:
        read(tmp_path / "lessons", text)
    assert str(error.value).startswith(f"lessons/01-a-lesson.md:{line}: ")
    assert said in str(error.value)


def test_bytes_that_are_no_text(tmp_path):
    file = write_lesson(tmp_path)
    file.write_bytes(LESSON.encode() + b"\xff")
    with pytest.raises(LessonError, match="01-a-lesson.md:14: this is not UTF-8 text"):
        read_lesson(file, Facts(TRACES, "vanilla"), TERMS, set())


def test_a_course_leaves_out_what_is_wrong_and_says_so(tmp_path, caplog):
    lessons, traces = tmp_path / "lessons", write_traces(tmp_path / "traces", *TRACES.values())
    write_lesson(lessons, name="02-second.md")
    write_lesson(lessons, name="01-first.md")
    write_lesson(lessons, LESSON.replace("{rejected_token | quoted}", "{magic}"), name="03-third.md")
    write_lesson(lessons, "# Not a lesson", name="README.md")
    write_lesson(lessons, "## draft, drafts\nIt guesses.\n", name="glossary.md")
    with caplog.at_level(logging.WARNING):
        course = read_course(lessons, traces)
    assert [lesson["name"] for lesson in course.lessons] == ["first", "second"]
    assert course.glossary == [{"name": "draft", "spans": [{"kind": "text", "text": "It guesses."}]}]
    (mistake,) = course.mistakes
    assert mistake.startswith("lessons/03-third.md:13: {magic} cannot be computed: 'magic' is undefined")
    assert mistake in caplog.text


def test_of_two_lessons_with_one_name_or_number_the_second_is_refused(tmp_path):
    lessons, traces = tmp_path / "lessons", write_traces(tmp_path / "traces", *TRACES.values())
    for name in ("01-a.md", "02-a.md", "02-b.md", "2-c.md", "a.md", "z.md"):
        write_lesson(lessons, name=name)
    course = read_course(lessons, traces)
    assert [lesson["name"] for lesson in course.lessons] == ["a", "b", "z"]
    assert course.mistakes == [
        'lessons/02-a.md:1: 01-a.md has the name "a" too; rename one.',
        'lessons/2-c.md:1: 02-b.md has the number "2" too; rename one.',
        'lessons/a.md:1: 01-a.md has the name "a" too; rename one.',
    ]


def test_a_broken_glossary_or_trace_leaves_the_rest(tmp_path):
    lessons, traces = tmp_path / "lessons", write_traces(tmp_path / "traces", *TRACES.values())
    write_lesson(lessons)
    write_lesson(lessons, "## draft\n", name="glossary.md")
    course = read_course(lessons, traces)
    assert len(course.lessons) == 1 and not course.glossary
    assert course.mistakes == ['lessons/glossary.md:1: the term "draft" needs one paragraph that says what it means.']
    (traces / "vanilla.duoviz.json").write_text("{}")
    course = read_course(lessons, traces)
    assert len(course.lessons) == 1 and "vanilla.duoviz.json is not a trace" in course.mistakes[0]


def test_without_recordings_each_lesson_says_what_it_needs(tmp_path):
    write_lesson(tmp_path / "lessons")
    (mistake,) = read_course(tmp_path / "lessons", tmp_path).mistakes
    assert mistake.startswith("lessons/01-a-lesson.md:4: there is no recorded run of duodecoding yet")


@pytest.mark.parametrize(
    "text, line",
    [("## an\nx\n\n## AN\ny\n", 4), ("## a,\nx\n", 1), ("## a\nx\n\ny\n", 1), ("## a\n- x\n", 1)],
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


def test_draws_are_at_the_place_where_the_draft_knows_most_and_the_target_is_unsure(tmp_path):
    """Of the sure place, one where the draft is wrong and two where it is nearly right, the last one.

    At the third, one that finds everything equally likely would be as good.
    """
    places = [
        expected([0.9, 0.1, 0, 0], [0.9, 0.1, 0, 0]),
        expected([0.5, 0.3, 0.2, 0], [0, 0.1, 0.2, 0.7]),
        expected([0.3, 0.25, 0.25, 0.2], [0.25, 0.25, 0.25, 0.25]),
        expected([0.5, 0.3, 0.125, 0.01], [0.4, 0.4, 0.1, 0.01]),
    ]
    traces = write_traces(tmp_path / "traces", *TRACES.values())
    lessons = tmp_path / "lessons"
    write_lesson(lessons, f"{FRONT}## Page\nfigure: coupled draws\n\nText.\n")
    text = TRACES["vanilla"]["end"]["text"]
    lost = {"text": text, "places": places[:2]}
    for told, seen in (
        ({"text": text, "places": places}, True),
        ({"text": "Another.", "places": places}, False),
        (lost, False),
    ):
        (traces / "places.json").write_text(json.dumps(told), encoding="utf-8")
        (page,) = read_course(lessons, traces).lessons[0]["pages"]
        assert bool(page["figure"]) == seen
        if seen:
            assert page["figure"]["before"] == "a a a"
            *known, rest = page["figure"]["outcomes"]
            assert known == places[3][:3]
            assert rest == {"text": None, "p": pytest.approx(0.075), "q": pytest.approx(0.1)}
    for wrong in ("[", "{}", '{"text": "", "places": [[]]}'):
        (traces / "places.json").write_text(wrong, encoding="utf-8")
        assert read_course(lessons, traces).mistakes == ["places.json is not what `python -m duoviz record` writes."]


def test_no_more_draws_are_listed_than_fit_beside_the_text():
    """The likeliest of either model stay, in the place's order."""
    p = [0.2, 0.15, 0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.03, 0.02]
    place = expected(p, [0.1, 0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.3, 0.02])
    assert figures.listed(place) == [*place[:7], place[8]]
