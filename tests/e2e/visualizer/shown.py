"""What tests do with the visualizer, and read from it."""

import json

from playwright.sync_api import expect

# Steps through all iterations and reads what is drawn.
READ_ITERATIONS = """async () => {
  const root = document.querySelector(".dv");
  const press = async (key) => {
    root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  };
  const read = (query, what) => Array.from(root.querySelectorAll(query), what);
  const shown = [];
  await press("Home");
  for (let position = 0; position < Number(root.dataset.iterations); position++) {
    shown.push({
      position: Number(root.dataset.shown),
      nodes: read("g.dv-node", (node) => ({...node.dataset, label: node.querySelector(".dv-label").textContent,
        count: node.querySelector(".dv-count")?.textContent,
        title: node.querySelector("title").textContent, top: node.getBoundingClientRect().top})),
      edges: read("path.dv-edge", (edge) => ({...edge.dataset, width: parseFloat(edge.style.strokeWidth)})),
      sentence: root.querySelector(".dv-sentence").textContent,
      tree: (({scrollLeft, clientWidth}) => ({scrollLeft, clientWidth}))(root.querySelector(".dv-tree-box")),
      captions: read(".dv-tree-drawing .dv-caption", (caption) => ({text: caption.textContent,
        x: Number(caption.getAttribute("x"))})),
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
    page.get_by_role("button", name=method, exact=True).click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    page.mouse.move(600, 400)


def saved_to(folder, content, name="run.duoviz.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def load(page, path):
    page.locator(".dv input[type=file]").set_input_files(path)


def download(page, button, folder):
    """Press one of the buttons of the menu Files, and keep what it saves."""
    if not page.locator(".dv-menu-files[open]").count():
        page.locator(".dv-menu-files summary").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def send(page, events):
    page.evaluate("events => events.forEach(window.send)", events)
