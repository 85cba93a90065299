"""The lessons in a real browser: every page of every lesson, its question answered wrongly and rightly."""

import re
from itertools import cycle
from urllib.parse import parse_qs

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz.recordings import LESSONS as TRACES
from duoviz.web.app import LESSONS, learn_page
from duoviz.web.lessons.course import read_course
from tests.e2e.journeys import choose_tab
from tests.e2e.learn_tab import ANSWERS, Keyboard, Pointer, check_page, told, wait_for_page
from tests.e2e.pages import copy, fits, is_at, press, runs_until, violations
from tests.e2e.tiny_site import served
from tests.web.lessons.made import LESSON, duo_trace, vanilla_trace, write_lesson, write_traces


def learn_site(lessons, traces):
    """The tab alone: nothing is loaded for it but what stands in the two folders."""
    with gr.Blocks() as demo:
        learn_page(lessons, traces)
    return served(demo)


@pytest.fixture(scope="module")
def lessons_url():
    with learn_site(LESSONS, TRACES) as url:
        yield url


@pytest.fixture(scope="module")
def course():
    found = read_course(LESSONS, TRACES)
    assert not found.mistakes
    return found


def check_drawn(page, kind):
    """The figures that draw answer to the reader."""
    figure = page.locator(".dl-figure")
    if kind == "coupled draws":
        for skill, accepted in (("0", r"\b[1-8]?\d?\d drafted"), ("2", r"\b1000 drafted")):
            figure.locator("input").fill(skill)
            expect(figure).to_contain_text(re.compile(accepted))
    elif kind == "classical rule":
        for button, drawn in (("Draw one", "The draft draws"), ("Draw 1,000", "1,001 drawn")):
            figure.get_by_role("button", name=button).click()
            expect(figure).to_contain_text(drawn)


# A reader at a desk and one with a phone take turns, a lesson each.
READERS = ((1280, False, Pointer), (390, True, Keyboard))


def test_every_lesson_can_be_walked_through(new_page, site, course):
    """Each page shows what it is about, each question answers, and the end says what was done."""
    page = new_page()
    page.goto(f"{site.url}#tab=learn")
    seen = set()
    back, forward = page.locator(".dl-pages button").first, page.locator(".dl-pages button").last
    expect(back).to_be_hidden()
    for lesson, (width, dark, hand) in zip(course.lessons, cycle(READERS), strict=False):
        hand = hand(page)
        page.set_viewport_size({"width": width, "height": 800})
        # Nothing of what comes to lie under a pointer at rest is asked to explain itself.
        page.mouse.move(0, 0)
        page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
        for number, shown in enumerate(lesson["pages"], 1):
            wait_for_page(page, lesson, number, shown)
            question, figure = shown["question"], shown["figure"]
            # One of all pages that are made of the same parts is looked at more closely.
            made_of = (width, question and question["kind"], figure and figure["kind"], *shown["parts"])
            check_page(page, shown)
            if question:
                ANSWERS[question["kind"]](page, question, hand)
                assert made_of[:2] in seen or not violations(page, ".dl"), shown["title"]
            if figure and made_of not in seen:
                check_drawn(page, figure["kind"])
            seen |= {made_of, made_of[:2]}
            if number < len(lesson["pages"]):
                assert page.locator(".dl-live:visible").count() == 0
            else:
                assert page.locator(".dl-live a.dv-button").get_attribute("href") == lesson["live"]
                assert lesson["watch"] in page.locator(".dl-live").inner_text()
            hand.press(forward)
    assert lesson is course.lessons[-1] and number == len(lesson["pages"])
    expect(forward).to_be_hidden()
    expect(page.locator(".dl-body")).to_contain_text(f"All {len(course.lessons)} lessons are done")
    assert page.locator(".dl-summary .dl-lesson[data-done=true]").count() == len(course.lessons)
    hand.press(page.locator(".dl-body").get_by_role("button", name="Copy my answers"))
    questions = sum(each["question"] is not None for lesson in course.lessons for each in lesson["pages"])
    expect(page.locator(".dl-body .dl-copied")).to_have_value(re.compile(f"{questions} of {questions} right, 0 at the"))
    assert fits(page) and not violations(page, ".dl")
    hand.press(back)
    wait_for_page(page, lesson, number, lesson["pages"][-1])
    # What was done is known when the page is opened again.
    page.reload()
    page.locator(".dl-contents summary").click()
    expect(page.locator(".dl-contents .dl-state")).to_have_text([re.compile("^\\d min · done$")] * len(course.lessons))


def test_each_page_has_a_link_and_what_is_left_of_the_course_is_led_to(page, lessons_url, course):
    *_, last = course.lessons
    pages, links = len(last["pages"]), page.locator(".dl-where a")
    # Of this lesson nothing but its last page is seen, and no question answered.
    page.goto(f"{lessons_url}#tab=learn&lesson={last['name']}&page={pages}")
    press(page, "Finish")
    expect(page.locator(".dl-body h3")).to_have_text("The end of the course")
    expect(page.locator(".dl-body")).to_contain_text(f"0 of {len(course.lessons)} lessons are done.")
    left = page.locator(".dl-summary .dl-lesson").last
    expect(left).to_contain_text(f"1 of {pages} pages")
    left.click()
    wait_for_page(page, last, 1, last["pages"][0])
    expect(links).to_have_count(pages)
    links.last.click()
    wait_for_page(page, last, pages, last["pages"][-1])
    expect(links.last).to_have_attribute("aria-current", "page")


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
"""


@pytest.fixture(scope="module")
def made_url(tmp_path_factory):
    """Two lessons on made traces, hostile in every text, and one with a mistake."""
    folder = tmp_path_factory.mktemp("learn")
    lessons = folder / "lessons"
    write_lesson(lessons)
    write_lesson(lessons, SECOND.replace("{h}", HOSTILE), name="02-another.md")
    write_lesson(lessons, LESSON.replace("{rejected_token | quoted}", "{magic}"), name="03-wrong.md")
    write_lesson(lessons, f"## draft, drafts\nIt guesses {HOSTILE}.\n", name="glossary.md")
    trace = duo_trace()
    for each in trace["iterations"]:
        for node in (*each["checked"], *each["drafted"], *each["committed"], *each["candidates"]):
            node["text"] += HOSTILE
    with learn_site(lessons, write_traces(folder / "traces", trace, vanilla_trace())) as url:
        yield url


def test_hostile_texts_and_a_mistake(page, made_url):
    page.goto(made_url)
    expect(page.locator(".dl-visualizer[data-state=done]")).to_be_visible()
    expect(page.locator(".dl-mistakes li")).to_contain_text('lessons/03-wrong.md:9: "magic" cannot be computed')
    assert HOSTILE in page.locator(".dl-value").inner_text()
    page.locator(".dl-contents summary").click()
    expect(page.locator(".dl-lesson b")).to_have_text(["A lesson", f"Another one {HOSTILE}"])
    expect(page.locator(".dl-lesson .dl-about")).to_have_text(["About guesses.", HOSTILE])
    page.locator(".dl-lesson").nth(1).click()
    expect(page.locator(".dl-body h3")).to_have_text(f"Page {HOSTILE}")
    expect(page.locator(".dl-body h3")).to_be_focused()
    # A term opens its sentence by pointer and by keyboard.
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
    page.keyboard.press("Escape")
    page.locator(".dl-option").first.click()
    assert told(page, False) == f"Why {HOSTILE}"
    page.locator(".dl-option").nth(1).click()
    told(page, True)
    assert page.locator(".dl img, .dl script").count() == 0
    assert page.evaluate("window.hacked") is None


def test_a_lost_recording_is_told_and_fetched_again(new_page, made_url):
    page, lost = new_page(), [True]
    page.clock.install()
    page.route("**/*.duoviz.json", lambda route: route.abort() if lost[0] else route.continue_())
    page.goto(made_url)
    note = page.locator(".dl-stage > .dl-note")
    # It is asked for several times, at some seconds' distance.
    runs_until(page, lambda: "could not be loaded" in note.inner_text())
    lost[0] = False
    press(page, "Next lesson")
    is_at(page.locator(".dl-visualizer"), state="done")
    expect(note).to_have_text("A recorded run of DuoDecoding, on core 1 and core 0 on 1 January 2026.")


def test_try_it_live_fills_in_the_live_tab_and_links_hold_the_place(page, site, course):
    page.goto(f"{site.url}#tab=learn&lesson=the-classical-rule&page=5")
    shown = page.locator(".dl")
    is_at(shown, page=5)
    place = {"tab": ["learn"], "lesson": ["the-classical-rule"], "page": ["5"]}
    assert parse_qs(copy(page).partition("#")[2]) == place
    page.evaluate("document.body.classList.add('dark')")
    page.get_by_role("link", name="Try it live").click()
    expect(page.locator("#prompt textarea")).to_have_value("Tell me a story about a lighthouse.")
    # What the lesson sets runs, in the theme that the reader has, and the page says what to watch.
    is_at(page.locator("#visualizer .dv"), method="speculative", state=re.compile("running|done"))
    assert page.locator("body.dark").count() == 1
    expect(page.locator(".dl-watch")).to_contain_text("Watch: the text. Then run it again")
    page.get_by_role("button", name=re.compile("^Settings")).first.click()
    expect(page.locator("#temperature input")).to_have_value("0.8")
    expect(page.get_by_label("Acceptance")).to_have_value("rejection")
    page.keyboard.press("Escape")
    # A link that was followed last leads there again.
    choose_tab(page, "Learn")
    page.get_by_role("link", name="Try it live").click()
    page.get_by_role("link", name="Back to the lesson").click()
    expect(page.locator(".dl-watch")).to_have_count(0)
    is_at(shown, page=5)
    page.get_by_role("link", name="shared noise", exact=True).click()
    is_at(shown, lesson="the-text-does-not-change")
    # The link of the course's end names no lesson.
    last = course.lessons[-1]
    page.evaluate(f"location.hash = '#tab=learn&lesson={last['name']}&page={len(last['pages'])}'")
    press(page, "Finish")
    expect(page.locator(".dl-body h3")).to_have_text("The end of the course")
    assert copy(page) == f"{site.url}#tab=learn"
