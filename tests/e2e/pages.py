"""A real browser, and what tests do and read on its pages."""

import json
import re
import shutil
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from tests.until import wait_until

CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# A visitor who has seen the story comes to the stage at once, and follows runs as fast as they come.
SEEN = """try {
  localStorage.setItem("duoviz story", "seen");
  localStorage.setItem("duoviz pace", "live");
  localStorage.setItem("duoviz methods", "all");
} catch { /* This page keeps nothing. */ }"""
# Milliseconds for whatever is to come: no machine is so slow, nor so busy.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


def launch_chromium(playwright):
    """The system's Chromium, without a window; the build that has none takes a third less of the processor's time."""
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert chromium, "the browser tests need Chromium: install your system's package"
    return playwright.chromium.launch(
        executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    )


def page_in(context):
    """A new page that keeps its errors."""
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    return page


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def serving(folder):
    """The address of a folder's files: on another host than the app's."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


def press(page, name):
    """Click the button of this name."""
    page.get_by_role("button", name=name, exact=True).click()


def copy(page):
    """Press Copy link: the link that stands there then."""
    link = page.locator(".dv-share-link")
    link.evaluate("input => { input.value = ''; }")
    press(page, "Copy link")
    expect(link).not_to_have_value("")
    expect(link).to_be_visible()
    return link.input_value()


def is_at(node, **data):
    """Wait until a part of the page says so of itself, in its data."""
    for name, value in data.items():
        expect(node).to_have_attribute(f"data-{name}", value if isinstance(value, re.Pattern) else str(value))


def open_menu(page, menu=".dv-menu-files"):
    """Open a menu, and wait: the browser tells the page of the opening in a task of its own."""
    if not page.locator(f"{menu}[open]").count():
        page.locator(f"{menu} summary").click()
        settle(page)


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def runs_until(page, condition):
    """Hurry the page's clock on until something holds."""

    def holds():
        page.clock.run_for(500)
        return condition()

    wait_until(holds)


def present(page, on):
    """As it is presented where the page may not have the screen."""
    page.evaluate("(on) => document.documentElement.toggleAttribute('data-present', on)", on)


def fits(page):
    """Whether nothing is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def is_whole(part):
    """Whether it has room for all that is in it."""
    return part.evaluate("(node) => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight")


# What axe would load first is for a rule about how a phone is held.
VIOLATIONS = """async ([part, rules]) => {
  const { violations } = await axe.run(part, { resultTypes: ["violations"], preload: false, ...rules });
  return Object.fromEntries(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]));
}"""
# The page's colours, and what axe is to look at in them: what is the same in both is looked at once.
SCHEMES = (("light", None), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]}))


def violations(page, part="html", *, rules=None):
    """What axe finds, with the nodes it is about. rules: as in `SCHEMES`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        # Colours that come one after another, as a theme's, are read at once.
        page.add_style_tag(content="*, ::before, ::after { transition: none !important; }")
    return page.evaluate(VIOLATIONS, [part, rules])


def violations_in_both(page, part="html"):
    """The same in each of the page's colours; those that it has then are the dark ones."""
    found = {}
    for scheme, rules in SCHEMES:
        page.evaluate("(scheme) => document.body.classList.toggle('dark', scheme === 'dark')", scheme)
        found |= {f"{rule}, {scheme}": nodes for rule, nodes in violations(page, part, rules=rules).items()}
    return found


# The Live tab.


def open_live(page, url):
    page.goto(url)
    expect(page.locator("#generate")).to_be_visible()
    expect(page.locator(".dv")).to_have_attribute("data-state", re.compile("empty|recording"))


def open_settings(page):
    settings = page.locator("#settings > button")
    # On a phone the form may be folded.
    if not settings.is_visible():
        page.locator("#prompt textarea").click()
    if not page.locator("#settings > button.open").count():
        settings.click()


def set_tokens(page, count):
    open_settings(page)
    type_number(page, "max-new-tokens", count)


def type_number(page, field, number):
    box = page.locator(f"#{field} input")
    expect(box).to_be_visible()
    # Typed, not filled: the page must have seen each key before the button is pressed.
    box.click()
    box.press("Control+a")
    box.press_sequentially(str(number)) if number != "" else box.press("Delete")
    box.press("Tab")


def wait_for_iterations(page, count):
    """Wait until the visitor's own run has this many."""
    page.wait_for_function(
        """count => {
          const {state, iterations} = document.querySelector('.dv').dataset;
          return state !== 'recording' && Number(iterations) >= count;
        }""",
        arg=count,
    )


def start_endless(page, url):
    """Start a run on the tiny site that goes on until it is stopped, and see it under way."""
    open_live(page, url)
    press_endless(page)


def press_endless(page):
    """The same on the page as it stands."""
    set_tokens(page, 4000)
    page.locator("#generate").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "running")
    wait_for_iterations(page, 3)


# The visualizer.

OPEN_DETAILS = "document.documentElement.setAttribute('data-details', '')"

# Steps through so many iterations and reads what is drawn.
READ_ITERATIONS = """async (most) => {
  const root = document.querySelector(".dv");
  const press = async (key) => {
    root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    await new Promise(requestAnimationFrame);
  };
  const read = (query, what) => Array.from(root.querySelectorAll(query), what);
  const shown = [];
  await press("Home");
  for (let position = 0; position < Math.min(most, root.dataset.iterations); position++) {
    shown.push({
      position: Number(root.dataset.shown),
      nodes: read("g.dv-node", (node) => ({...node.dataset, label: node.querySelector(".dv-label").textContent,
        count: node.querySelector(".dv-count")?.textContent})),
      edges: read("path.dv-edge", (edge) => ({...edge.dataset})),
      sentence: root.querySelector(".dv-sentence").textContent,
      threshold: root.querySelector(".dv-candidates .dv-note").textContent,
      numbers: Object.fromEntries(read("[data-number]:not([data-number=phi])",
        (number) => [number.dataset.number, number.textContent])),
    });
    await press("ArrowRight");
  }
  return shown;
}"""


def show(page, url, method):
    page.goto(url)
    press(page, method)
    shown(page, state="done")
    page.mouse.move(600, 400)


def saved_to(folder, content, name="run.duoviz.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def load(page, path):
    page.locator(".dv input[type=file]").set_input_files(path)


def saved_by(page, act, folder):
    """What a button saves: its name, or what presses it."""
    with page.expect_download() as waiting:
        act() if callable(act) else press(page, act)
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def download(page, button, folder, menu=".dv-menu-files"):
    """What one of a menu's buttons saves."""
    open_menu(page, menu)
    return saved_by(page, button, folder)


def send(page, events):
    page.evaluate("events => events.forEach(window.send)", events)


def shown(page, **data):
    """Wait until the visualizer says so of itself."""
    is_at(page.locator(".dv"), **data)


def move_to(page, iteration):
    """Move the slider of the page's first visualizer, and see the iteration."""
    page.locator(".dv-slider").first.fill(str(iteration))
    is_at(page.locator(".dv").first, shown=iteration)


# A race.


def ask_for_a_race(page, tokens, *, button="#race"):
    """Of so many tokens on Compare's tab."""
    if not page.locator("#race-settings > button.open").count():
        page.locator("#race-settings > button").click()
    type_number(page, "compare-max-new-tokens", tokens)
    page.locator(button).click()


def finished(page):
    is_at(page.locator(".dv-race"), playing="false")


def side(page, number):
    return page.locator(".dv-side").nth(number)


def text_of(side):
    return "".join(side.locator(".dv-paragraph").all_text_contents())


def figure(page, name, number):
    return page.locator(f'.dv-figures [data-figure="{name}"]').nth(number)
