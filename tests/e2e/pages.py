"""A real browser and its pages."""

import shutil
from functools import partial

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from duoviz.web.front import SOURCES, methods_json

PLAIN = "http://plain.test"
TRACE = SOURCES.parents[1] / "trace"
TYPES = {".js": "text/javascript", ".json": "application/json"}
KNOWING = f"""<script type="module">
import {{ know }} from "/visualizer/methods.js";
know({methods_json()});
</script>"""

CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

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


def open_modules(page):
    """A page without Gradio that may import the scripts, at their paths in `duoviz/web/front`."""
    page.route(f"{PLAIN}/**", partial(answer_module, html=f"<!doctype html>{KNOWING}"))
    page.goto(f"{PLAIN}/")
    return page


def answer_module(route, *, html):
    """Answer a request for a module or a schema with its source, and any other with a page."""
    path = route.request.url.removeprefix(f"{PLAIN}/")
    file = TRACE / path.removeprefix("trace/") if path.startswith("trace/") else SOURCES / path
    if file.suffix not in TYPES:
        route.fulfill(body=html, content_type="text/html; charset=utf-8")
    elif file.is_file():
        route.fulfill(body=file.read_text(encoding="utf-8"), content_type=f"{TYPES[file.suffix]}; charset=utf-8")
    else:
        # An error in here would leave the page waiting for ever.
        route.fulfill(status=404)


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def fits(page):
    """Whether nothing is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


# What axe would load first is for a rule that is never serious.
SERIOUS = """async ([part, rules]) => {
  const { violations } = await axe.run(part, { resultTypes: ["violations"], preload: false, ...rules });
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  return Object.fromEntries(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]));
}"""
# The page's colours, and what axe is to look at in them: what is the same in both is looked at once.
SCHEMES = (("light", None), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]}))


def serious(page, part="html", *, rules=None):
    """What axe holds to be serious, with the nodes it is about. rules: as in `SCHEMES`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(SERIOUS, [part, rules])


def serious_in_both(page, part="html"):
    """The same in each of the page's colours; those that it has then are the dark ones."""
    found = {}
    for scheme, rules in SCHEMES:
        page.evaluate("(scheme) => document.body.classList.toggle('dark', scheme === 'dark')", scheme)
        found |= {f"{rule}, {scheme}": nodes for rule, nodes in serious(page, part, rules=rules).items()}
    return found
