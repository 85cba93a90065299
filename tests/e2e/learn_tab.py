"""What tests do on the Learn tab: read its pages, and answer their questions as a reader does."""

import re

from playwright.sync_api import expect

from tests.e2e.pages import fits, settle
from tests.web.lessons.made import words

PAGE_IS_SHOWN = """([lesson, number, { title, trace, at, marks }]) => {
  const find = (part) => document.querySelector(part);
  const [course, stage] = [".dl", ".dl-visualizer"].map((part) => find(part)?.dataset ?? {});
  const isOpen = course.lesson === lesson && course.page === String(number);
  const isRead = isOpen && find(".dl-body h3")?.textContent === title;
  const isAt = stage.method === trace && stage.state === "done" && stage.shown === String(at);
  // The timeline is drawn a frame after the words around it.
  return isRead && isAt && marks.every((mark) => find(`.dl-visualizer ${mark}`));
}"""


def wait_for_page(page, lesson, number, shown):
    """The page of the lesson is there, and the visualizer beside it has come to its iteration."""
    expected = {name: shown[name] for name in ("title", "trace", "at", "marks")}
    # Looked at in each frame: it is asked for a hundred times.
    page.wait_for_function(PAGE_IS_SHOWN, arg=[lesson["name"], number, expected])
    settle(page)


READ_PAGE = """([parts, marks]) => {
  const stage = document.querySelector(".dl-visualizer");
  const isOutlined = (node) => getComputedStyle(node).outlineStyle === "solid";
  const shown = [...stage.children].filter((node) => node.checkVisibility() && node.getBoundingClientRect().height);
  const boxes = [...document.querySelectorAll(".dl-body, .dl-question, .dl-live, .dl-pages, .dl-figure"), ...shown]
    .filter((node) => node.checkVisibility()).map((node) => [node.className, node.getBoundingClientRect()]);
  return {
    parts: parts.map((part) => shown.includes(stage.querySelector(part))),
    others: shown.filter((node) => !node.matches([...parts, ".dv-transport", ".dv-sentence"].join(", "))).length,
    marked: marks.map((mark) => [...stage.querySelectorAll(mark)].some(isOutlined)),
    narrow: shown.flatMap((node) => [...node.querySelectorAll(".dv-chart")])
      .filter((node) => node.checkVisibility() && node.getBoundingClientRect().width < 150).length,
    figure: document.querySelector(".dl-stage .dl-figure")?.dataset.figure ?? null,
    outside: boxes.filter(([, { top, right, bottom }]) => top < 0 || right > innerWidth || bottom > innerHeight)
      .map(([name]) => name),
    text: document.querySelector(".dl-body").textContent,
  };
}"""


def check_page(page, shown):
    """Beside the lesson's text stands what the page is about, and nothing else; on a wide window all of it in sight."""
    read = page.evaluate(READ_PAGE, [shown["parts"], shown["marks"]])
    assert all(read["parts"]) and read["others"] == read["narrow"] == 0, (shown["title"], read)
    assert all(read["marked"]), (shown["title"], shown["marks"])
    assert read["figure"] == (shown["figure"] and shown["figure"]["kind"])
    assert shown["parts"] or shown["figure"]
    assert fits(page) and "{" not in read["text"]
    assert page.viewport_size["width"] < 900 or read["outside"] == [], shown["title"]
    # Between two blocks stands no space.
    assert "".join(words(shown["text"]).split()) in "".join(read["text"].split())


FREE_POINT = """(node) => {
  const { left, top, width, height } = node.getBoundingClientRect();
  for (let part = 1; part < 400; part++) {
    const [x, y] = [left + (width * part) / 400, top + height / 2];
    if (node.contains(document.elementFromPoint(x, y))) return [x, y];
  }
}"""


class Pointer:
    """How a reader with a mouse answers."""

    def __init__(self, page):
        self.page = page

    def press(self, node):
        node.click()

    def press_drawn(self, node):
        """Press it where nothing is drawn over it."""
        node.scroll_into_view_if_needed()
        self.page.mouse.click(*node.evaluate(FREE_POINT))

    def slide(self, slider, value):
        slider.fill(f"{value:g}")

    def go_to(self, index):
        self.page.locator(".dl .dv-slider").fill(str(index))


class Keyboard(Pointer):
    """How a reader without one does: each thing must take the focus and answer to a key."""

    def press(self, node):
        node.focus()
        expect(node).to_be_focused()
        self.page.keyboard.press("Enter")

    press_drawn = press

    def slide(self, slider, value):
        slider.focus()
        lowest, step = (float(slider.get_attribute(name)) for name in ("min", "step"))
        self.page.keyboard.press("Home")
        for _ in range(round((value - lowest) / step)):
            self.page.keyboard.press("ArrowRight")

    def go_to(self, index):
        self.page.locator(".dl-body h3").focus()
        self.page.keyboard.press("Home")
        for _ in range(index):
            self.page.keyboard.press("ArrowRight")


def told(page, right):
    verdict = page.locator(".dl-verdict")
    expect(verdict).to_have_attribute("data-right", str(right).lower())
    said = (verdict.text_content() or "").removeprefix("✓ Right. " if right else "Not quite. ")
    assert len(said) > 4
    return said


def answer_choose(page, question, hand):
    for right in (False, True):
        options = [index for index, option in enumerate(question["options"]) if option["right"] is right]
        for index in options:
            hand.press(page.locator(".dl-option").nth(index))
            assert told(page, right) == words(question["options"][index]["why"])


def answer_step(page, question, hand):
    last = int(page.locator(".dl-visualizer").get_attribute("data-iterations"))
    wrong = next(index for index in range(last) if index not in question["answer"])
    for index, right in ((wrong, False), (question["answer"][0], True)):
        hand.go_to(index)
        expect(page.locator(".dl-visualizer")).to_have_attribute("data-shown", str(index))
        hand.press(page.get_by_role("button", name="It is this one"))
        assert told(page, right) == words(question["right" if right else "wrong"])


def answer_click(page, question, hand):
    root = ".dl-visualizer" if question["part"] else ".dl-figure"
    choices = [f"{root} {each.strip()}" for each in question["choices"].split(",")]
    right = page.locator(", ".join(f"{each}:is({question['answer']})[tabindex]" for each in choices))
    wrong = page.locator(", ".join(f"{each}:not({question['answer']})[tabindex]" for each in choices))
    for nodes, is_right in ((wrong, False), (right, True)):
        hand.press_drawn(nodes.first)
        assert told(page, is_right) == words(question["right" if is_right else "wrong"])


def answer_number(page, question, hand):
    """Typed with a decimal comma, the right one at the tolerance's edge; or set with the figure's slider."""
    right, typed = question["answer"], page.locator(".dl-typed")
    if typed.count():
        tries = {"low": right / 2, "high": 2 * right, "right": right * (1 + 0.9 * question["within"])}
    else:
        slider = page.locator(".dl-figure input").first
        lowest, highest, step = (float(slider.get_attribute(name)) for name in ("min", "max", "step"))
        # A slider of θ gives the fewest sequences at its upper end; what is right ends with θ.
        tries = {"low": lowest, "high": highest, "right": right}
        if step < 1:
            theta = re.search(r"= ([\d.]+\d)", words(question["right"]))[1]
            tries = {"low": highest, "high": lowest, "right": float(theta)}
    for reason, value in tries.items():
        if typed.count():
            typed.fill(f"{value:.6f}".replace(".", ","))
        else:
            hand.slide(slider, value)
        hand.press(page.get_by_role("button", name="Check", exact=True))
        assert told(page, reason == "right") == words(question[reason])


ANSWERS = {"choose": answer_choose, "step": answer_step, "click": answer_click, "number": answer_number}
