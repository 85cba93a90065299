"""What tests do with the visualizer, and read from it."""

import base64
import json

from playwright.sync_api import expect

# Steps through all iterations and reads what is drawn.
READ_ITERATIONS = """async () => {
  const root = document.querySelector(".dv");
  const press = async (key) => {
    root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    await new Promise(requestAnimationFrame);
  };
  const read = (query, what) => Array.from(root.querySelectorAll(query), what);
  const shown = [];
  await press("Home");
  for (let position = 0; position < Number(root.dataset.iterations); position++) {
    shown.push({
      position: Number(root.dataset.shown),
      nodes: read("g.dv-node", (node) => ({...node.dataset, label: node.querySelector(".dv-label").textContent,
        count: node.querySelector(".dv-count")?.textContent, title: node.querySelector("title").textContent})),
      edges: read("path.dv-edge", (edge) => ({...edge.dataset, width: parseFloat(edge.style.strokeWidth)})),
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


# A film's size and length, and how much is drawn in its middle, in thousandths of its pixels.
FILM = """async (content) => {
  const video = Object.assign(document.createElement("video"), { muted: true });
  const told = (name) => new Promise((done, fail) => {
    video.addEventListener(name, done, { once: true });
    video.onerror = () => fail(new Error(video.error.message));
  });
  const loaded = told("loadeddata");
  const bytes = Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0));
  video.src = URL.createObjectURL(new Blob([bytes], { type: "video/webm" }));
  await loaded;
  const { videoWidth: width, videoHeight: height, duration } = video;
  const sought = told("seeked");
  video.currentTime = duration / 2;
  await sought;
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  pen.drawImage(video, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  const isPaper = (at) => [0, 1, 2].every((color) => Math.abs(data[at + color] - data[color]) < 40);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) count += !isPaper(at);
  return { size: [width, height], duration, drawn: (4000 * count) / data.length };
}"""


def play_film(page, path):
    """What a saved film shows: its size, duration, and how much is drawn in its middle."""
    content = path.read_bytes()
    # How every WebM begins.
    assert content.startswith(b"\x1a\x45\xdf\xa3") and len(content) > 10_000
    return page.evaluate(FILM, base64.b64encode(content).decode())


def send(page, events):
    page.evaluate("events => events.forEach(window.send)", events)


def shown(page, attribute, value):
    """Wait until the visualizer says so of itself."""
    expect(page.locator(".dv")).to_have_attribute(f"data-{attribute}", str(value))
