"""The lessons in a real browser: every page of every lesson, its question answered wrongly and rightly."""

import re
from urllib.parse import parse_qs

import gradio as gr
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from duoviz.decoding import METHODS
from duoviz.recordings import FOLDER as TRACES
from duoviz.trace.metrics import iteration_seconds
from duoviz.web import published
from duoviz.web.lessons.lesson import read_course, read_traces
from duoviz.web.lessons.placeholders import speeds
from duoviz.web.pages.learn import LESSONS, learn_page
from duoviz.web.theme import CSS, THEME
from tests.e2e.learn_tab import ANSWERS, Keyboard, Pointer, check_page, told, wait_for_page
from tests.e2e.pages import page_in
from tests.e2e.tiny_site import served
from tests.e2e.visualizer.test_accessibility import serious
from tests.web.lessons.made import LESSON, duo_trace, vanilla_trace, write_lesson, write_traces


def learn_site(lessons, traces):
    """The tab alone: nothing is loaded for it but what stands in the two folders."""
    with gr.Blocks() as demo:
        learn_page(lessons, traces)
    return served(demo, theme=THEME, css=CSS, app_kwargs={"routes": published.routes()})


@pytest.fixture(scope="module")
def lessons_url():
    with learn_site(LESSONS, TRACES) as url:
        yield url


@pytest.fixture(scope="module")
def course():
    found = read_course(LESSONS, TRACES)
    assert not found.mistakes
    return found


@pytest.mark.parametrize("width, scheme, hand", [(1280, "light", Pointer), (390, "dark", Keyboard)])
def test_every_lesson_can_be_walked_through(new_context, site, course, width, scheme, hand):
    """Each page shows what it is about, each question answers, and the end says what was done."""
    context = new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = page_in(context)
    page.goto(f"{site.url}#tab=learn")
    hand = hand(page)
    seen = set()
    back, forward = page.locator(".dl-pages button").first, page.locator(".dl-pages button").last
    expect(back).to_be_hidden()
    for lesson in course.lessons:
        for number, shown in enumerate(lesson["pages"], 1):
            wait_for_page(page, lesson, number, shown)
            check_page(page, shown)
            if shown["question"]:
                ANSWERS[shown["question"]["kind"]](page, shown["question"], hand)
                # One of all pages that are made of the same parts.
                made_of = (shown["question"]["kind"], shown["figure"] and shown["figure"]["kind"], *shown["parts"])
                assert made_of in seen or not serious(Axe().run(page, context=".dl")), shown["title"]
                seen.add(made_of)
            if number < len(lesson["pages"]):
                assert page.locator(".dl-live:visible").count() == 0
            else:
                assert page.locator(".dl-live a").get_attribute("href") == lesson["live"]
                assert lesson["watch"] in page.locator(".dl-live").inner_text()
            hand.press(forward)
    assert lesson is course.lessons[-1] and number == len(lesson["pages"])
    expect(forward).to_be_hidden()
    expect(page.locator(".dl-body")).to_contain_text(f"All {len(course.lessons)} lessons are done")
    assert page.locator(".dl-summary .dl-lesson[data-done=true]").count() == len(course.lessons)
    assert not serious(Axe().run(page, context=".dl"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    hand.press(back)
    wait_for_page(page, lesson, number, lesson["pages"][-1])
    # What was done is known when the page is opened again.
    page.reload()
    page.locator(".dl-contents summary").click()
    expect(page.locator(".dl-contents .dl-state")).to_have_text(["done"] * len(course.lessons))
    assert not page.errors
    context.close()


def test_what_is_left_is_told_and_led_to(page, lessons_url, course):
    """A lesson of which nothing but its last page was seen, and no question answered."""
    lesson = course.lessons[-1]
    page.goto(f"{lessons_url}#tab=learn&lesson={lesson['name']}&page={len(lesson['pages'])}")
    page.get_by_role("button", name="Finish").click()
    expect(page.locator(".dl-body h3")).to_have_text("The end of the course")
    expect(page.locator(".dl-body")).to_contain_text(f"0 of {len(course.lessons)} lessons are done.")
    left = page.locator(".dl-summary .dl-lesson").last
    expect(left).to_contain_text(f"1 of {len(lesson['pages'])} pages")
    left.click()
    wait_for_page(page, lesson, 1, lesson["pages"][0])
    assert not page.errors


DRAWS = """async ({ p, q }) => {
  const [{ drawByRule }, { coupledDraws }, { uniform }] =
    await Promise.all(["rule", "coupled", "chance"].map((name) => import(`http://plain.test/learn/${name}.js`)));
  const outcomes = p.map((share, index) => ({ text: String(index), p: share, q: q[index] }));
  const next = uniform(7);
  return {
    rule: Array.from({ length: 5000 }, () => drawByRule(outcomes, next)),
    coupled: [q, [...q].reverse(), p].map((draft) => coupledDraws(p, draft, 5000, 7)),
  };
}"""


def test_the_figures_draw_by_the_rules_that_they_teach(modules):
    p, q = [0.2, 0.1, 0.6, 0.1], [0.5, 0.3, 0.05, 0.15]
    drawn = modules.evaluate(DRAWS, {"p": p, "q": q})

    def shares(indices):
        return [indices.count(index) / len(indices) for index in range(len(p))]

    shared = sum(map(min, p, q))
    assert shares([each["written"] for each in drawn["rule"]]) == pytest.approx(p, abs=0.03)
    assert sum(each["accepted"] for each in drawn["rule"]) / 5_000 == pytest.approx(shared, abs=0.03)
    texts = [[each["target"] for each in draws] for draws in drawn["coupled"]]
    assert texts[0] == texts[1] == texts[2]
    assert shares(texts[0]) == pytest.approx(p, abs=0.03)
    assert shares([each["draft"] for each in drawn["coupled"][0]]) == pytest.approx(q, abs=0.03)
    agreed = [sum(each["target"] == each["draft"] for each in draws) / 5_000 for draws in drawn["coupled"]]
    # With the same noise at least (1 - TV) / (1 + TV), at most 1 - TV; with the same distribution always.
    assert shared / (2 - shared) - 0.03 <= agreed[0] <= shared + 0.03 and agreed[2] == 1


def test_the_figures_answer_to_the_reader(page, lessons_url, course):
    course_traces = read_traces(TRACES, [])

    def open_figure(kind):
        lesson, number = next(
            (lesson["name"], number)
            for lesson in course.lessons
            for number, shown in enumerate(lesson["pages"], 1)
            if shown["figure"] and shown["figure"]["kind"] == kind
        )
        page.goto("about:blank")
        page.goto(f"{lessons_url}#tab=learn&lesson={lesson}&page={number}")
        expect(page.locator(".dl-figure")).to_have_attribute("data-figure", kind)
        return page.locator(".dl-figure")

    figure = open_figure("coupled draws")
    lines = figure.locator(".dl-draws").inner_text
    rows = lines().split("Draft")[0]
    accepted = []
    for skill in range(3):
        figure.locator("input").fill(str(skill))
        assert lines().split("Draft")[0] == rows
        accepted.append(int(re.search(r"(\d+) drafted tokens are accepted", figure.inner_text())[1]))
    # The more the draft knows, the more of its tokens are accepted.
    assert accepted[0] < accepted[1] < accepted[2] == 1_000 and "✗" not in lines()
    figure = open_figure("classical rule")
    figure.get_by_role("button", name="Draw one").click()
    expect(figure).to_contain_text("The draft draws")
    figure.get_by_role("button", name="Draw 1,000").click()
    expect(figure).to_contain_text("1,001 drawn")
    assert figure.locator(".dl-share", has_text="%").count() == figure.locator(".dl-outcome").count()
    for kind, draft in (("costs", True), ("target costs", False)):
        figure = open_figure(kind)
        figure.locator("input").fill("8")
        expect(figure).to_contain_text("8 tokens in one forward")
        assert figure.locator('.dl-curve[data-side="draft"]').count() == draft
        assert ("Draft:" in figure.inner_text()) == draft
    figure = open_figure("speeds")
    for method, speed in speeds(course_traces).items():
        line = figure.locator(".dl-speed", has_text=METHODS[method].title)
        expect(line).to_contain_text(f"{speed:.1f}")
        shown, unit = re.search(r"([\d.]+) (ms|s) from forward to forward", line.inner_text()).groups()
        told_seconds = float(shown) * {"ms": 0.001, "s": 1}[unit]
        assert told_seconds == pytest.approx(iteration_seconds(course_traces[method]), rel=0.01)
    figure = open_figure("budget")
    for end, who in (("min", "The draft waits"), ("max", "The target waits")):
        figure.locator("input").fill(figure.locator("input").get_attribute(end))
        expect(figure).to_contain_text(who)
    figure = open_figure("threshold")
    for end, said in (("min", r"k = [2-8], the most"), ("max", r"No first token is over .* k = 1\.")):
        figure.locator("input").fill(figure.locator("input").get_attribute(end))
        expect(figure).to_contain_text(re.compile(said))
        # Every first token is marked as over the threshold, or none is.
        marks = figure.get_by_text("●", exact=True)
        seen = marks.evaluate_all("all => all.map(mark => mark.checkVisibility({visibilityProperty: true}))")
        assert len(seen) > 1 and seen == [end == "min"] * len(seen)
    assert not page.errors


HOSTILE = '<img src=x onerror="window.hacked=1">'
SECOND = """---
title: Another one {h}
summary: {h}
trace: duodecoding
---

## Page {h}
at: first miss

Text {h} of a *draft*. The draft is meant.

### Question: choose

{h}?

- [ ] No {h}
  Why {h}
- [x] Yes
  It is.

## Without its iteration
at: first all accepted

Never shown.
"""


@pytest.fixture(scope="module")
def made_url(tmp_path_factory):
    """Two lessons on made traces, hostile in every text, and one with a mistake."""
    folder = tmp_path_factory.mktemp("learn")
    lessons = folder / "lessons"
    write_lesson(lessons)
    write_lesson(lessons, SECOND.replace("{h}", HOSTILE), name="02-another.md")
    write_lesson(lessons, LESSON.replace("{rejected_token}", "{magic}"), name="03-wrong.md")
    write_lesson(lessons, f"## draft, drafts\nIt guesses {HOSTILE}.\n", name="glossary.md")
    trace = duo_trace()
    for each in trace["iterations"]:
        for node in (*each["checked"], *each["drafted"], *each["committed"], *each["candidates"]):
            node["text"] += HOSTILE
    with learn_site(lessons, write_traces(folder / "traces", trace, vanilla_trace())) as url:
        yield url


def test_hostile_texts_a_mistake_and_what_a_trace_lacks(page, made_url):
    page.goto(made_url)
    wait = page.locator(".dl-visualizer[data-state=done]")
    expect(wait).to_be_visible()
    expect(page.locator(".dl-mistakes li")).to_have_text(
        "lessons/03-wrong.md:13: there is no placeholder {magic}; README.md beside this file lists them."
    )
    assert HOSTILE in page.locator(".dl-value").inner_text()
    page.locator(".dl-contents summary").click()
    expect(page.locator(".dl-lesson b")).to_have_text(["A lesson", f"Another one {HOSTILE}"])
    expect(page.locator(".dl-lesson .dl-about")).to_have_text(["About guesses.", HOSTILE])
    page.locator(".dl-lesson").nth(1).click()
    expect(page.locator(".dl-body h3")).to_have_text(f"Page {HOSTILE}")
    expect(page.locator(".dl-body h3")).to_be_focused()
    page.locator(".dl-option").first.click()
    assert told(page, False) == f"Why {HOSTILE}"
    page.locator(".dl-option").nth(1).click()
    told(page, True)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".dl-missing")).to_have_text(
        "The recorded run of DuoDecoding has no iteration with “all accepted”, "
        "so there is nothing to see on this page. Go on."
    )
    assert page.locator(".dl img, .dl script").count() == 0
    assert page.evaluate("window.hacked") is None
    assert not page.errors


def test_a_term_opens_its_sentence_by_pointer_and_by_keyboard(page, made_url):
    page.goto(f"{made_url}#tab=learn&lesson=another")
    term, note = page.locator(".dl-body .dl-term"), page.locator(".dl-definition")
    expect(term).to_have_text(["draft"])
    term.click()
    expect(note).to_have_text(f"draft: It guesses {HOSTILE}.")
    term.click()
    expect(note).to_have_count(0)
    for key in ("Enter", " "):
        term.focus()
        page.keyboard.press(key)
        expect(note).to_be_visible()
        expect(term).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Escape")
        expect(note).to_have_count(0)
    page.locator(".dl-glossary summary").click()
    expect(page.locator(".dl-glossary dd")).to_have_text([f"It guesses {HOSTILE}."])


def test_a_link_opens_a_page(page, made_url):
    page.goto(f"{made_url}#tab=learn&lesson=another&page=2")
    expect(page.locator(".dl-missing")).to_be_visible()


FOLLOW = """() => new Promise((done) => {
  addEventListener("hashchange", () => done(), { once: true });
  location.hash = "#prompt=Why";
})"""


def test_the_query_leads_to_a_lesson_as_the_page_opens_and_no_more(page, lessons_url, course):
    first, second, *_ = [lesson["name"] for lesson in course.lessons]
    page.goto(f"{lessons_url}?lesson={second}")
    shown = page.locator(".dl")
    expect(shown).to_have_attribute("data-lesson", second)
    page.get_by_role("button", name="Back", exact=True).click()
    expect(shown).to_have_attribute("data-lesson", first)
    page.evaluate(FOLLOW)
    expect(shown).to_have_attribute("data-lesson", first)


def test_a_lost_recording_is_told_and_fetched_again(page, made_url):
    lost = []
    page.route("**/*.duoviz.json", lambda route: route.abort() if not lost else route.continue_())
    page.goto(f"{made_url}#tab=learn&lesson=another")
    expect(page.locator(".dl-stage > .dl-note")).to_contain_text("could not be loaded")
    lost.append(False)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".dl-visualizer")).to_have_attribute("data-state", "done")
    expect(page.locator(".dl-stage > .dl-note")).to_be_hidden()


def test_try_it_live_fills_in_the_live_tab_and_links_hold_the_place(page, site):
    page.goto(f"{site.url}#tab=learn&lesson=the-classical-rule&page=4")
    expect(page.locator(".dl")).to_have_attribute("data-page", "4")
    expect(page.locator("#share [role=status]")).to_have_text("")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#share input")).to_have_value(re.compile("page="))
    link = page.locator("#share input").input_value()
    assert parse_qs(link.partition("#")[2]) == {"tab": ["learn"], "lesson": ["the-classical-rule"], "page": ["4"]}
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#share input")).to_have_value(re.compile("lesson=what-drafting-costs$"))
    page.get_by_role("button", name="Back", exact=True).click()
    page.evaluate("document.body.classList.add('dark')")
    page.get_by_role("link", name="Try it live").click()
    expect(page.locator("#prompt textarea")).to_be_visible()
    expect(page.locator("#prompt textarea")).to_have_value("Tell me a story about a lighthouse.")
    # What the lesson sets runs, in the theme that the reader has, and the page says what to watch.
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-method", "speculative")
    expect(page.locator("#visualizer .dv")).to_have_attribute("data-state", re.compile("running|done"))
    assert page.locator("body.dark").count() == 1
    expect(page.locator(".dl-watch")).to_contain_text("Watch: the text, then run it again")
    page.get_by_role("button", name=re.compile("^Settings")).first.click()
    expect(page.locator("#method input:checked")).to_have_value("speculative")
    expect(page.locator("#temperature input")).to_have_value("0.8")
    expect(page.get_by_label("Acceptance")).to_have_value("rejection")
    page.get_by_role("link", name="Back to the lesson").click()
    expect(page.locator(".dl-watch")).to_have_count(0)
    expect(page.locator(".dl")).to_have_attribute("data-page", "4")
    page.get_by_role("link", name="shared noise").click()
    expect(page.locator(".dl")).to_have_attribute("data-lesson", "the-text-does-not-change")
    # A link that was followed last leads there again.
    for _ in range(2):
        page.get_by_role("tab", name="Learn").click()
        page.locator(".dl-contents summary").click()
        page.locator(".dl-lesson", has_text="The classical rule").click()
        for _ in range(3):
            page.get_by_role("button", name="Next", exact=True).click()
        page.get_by_role("link", name="Try it live").click()
        expect(page.locator("#prompt textarea")).to_be_visible()
    assert not page.errors


def test_the_link_of_the_courses_end_names_no_lesson(page, site, course):
    lesson = course.lessons[-1]
    page.goto(f"{site.url}#tab=learn&lesson={lesson['name']}&page={len(lesson['pages']) - 1}")
    page.get_by_role("button", name="Next", exact=True).click()
    page.get_by_role("button", name="Copy link").click()
    link = page.locator(".dv-share-link")
    expect(link).to_have_value(re.compile("lesson="))
    page.get_by_role("button", name="Finish").click()
    expect(page.locator(".dl-body h3")).to_have_text("The end of the course")
    page.get_by_role("button", name="Copy link").click()
    expect(link).to_have_value(f"{site.url}#tab=learn")
