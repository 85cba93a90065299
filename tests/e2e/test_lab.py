"""The Lab's tab in a real browser: a run that is stopped and goes on, what it shows, saving, loading."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from duoviz.lab.report import first_view
from duoviz.lab.results import load
from duoviz.recordings import FOLDER
from duoviz.web import results_store
from duoviz.web.pages import results
from tests.e2e.journeys import choose_tab
from tests.e2e.pages import fits, present, press, saved_by
from tests.lab.asked import hold_after


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setattr(results_store, "RECORDED", tmp_path / "recorded")
    results_store.made.cache_clear()
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "cache"))
    (tmp_path / "recorded").mkdir()


def open_lab(page, url):
    page.goto(url)
    choose_tab(page, "Lab")
    expect(page.locator("#lab-about p").first).to_be_visible()


def open_part(page, name):
    """Open a part, and see it."""
    thumbnail = page.locator(f'.ll-thumbnail[data-part="{name}"]')
    title = thumbnail.inner_text().strip()
    thumbnail.click()
    expect(page.locator("#lab-part h2")).to_have_text(title)


def choose_little(page):
    press(page, "Measure on this machine")
    for group, names in {
        "lab-tasks": ("MT-Bench-like", "Translation", "Summarization", "Math", "Retrieval", "Code"),
        "lab-methods": ("PLD", "REST", "Lookahead"),
    }.items():
        for name in names:
            page.locator(f"#{group}").get_by_label(name, exact=True).uncheck()
    page.locator("#lab-name input, #lab-name textarea").fill("mine")


def says(page, text):
    expect(page.locator("#lab-status")).to_contain_text(text)


def test_a_run_is_stopped_goes_on_is_shown_saved_and_compared(page, site, tmp_path, monkeypatch):
    open_lab(page, site.url)
    choose_little(page)
    with monkeypatch.context() as patched:
        hold_after(5, patched)
        page.locator("#lab-run").click()
        says(page, "5 of 24 answers")
        page.locator("#lab-stop").click()
        says(page, "Stopped. Finished answers are kept.")
    kept = load(tmp_path / "cache" / "lab" / "mine").rows
    assert len(kept) == 5
    handle, choices = page.locator(".ll-map .ll-handle").first, page.locator(".ll-select")
    handle.focus()
    page.keyboard.press("ArrowUp")
    for choice, value in zip(choices.all(), ("Question answering", "free"), strict=True):
        choice.select_option(value)
    point = page.locator(".ll-where").inner_text()
    open_part(page, "table-1")
    with monkeypatch.context() as patched:
        hold_after(6, patched)
        page.locator("#lab-run").click()
        says(page, "11 of 24 answers")
        # All of it is there again after a reload, which ends the run.
        page.reload()
    expect(page.locator(".dv-share-message")).to_contain_text("finished answers are kept. Press Run to resume it.")
    expect(page.locator("#lab-part h2")).to_be_visible()
    press(page, "Measure on this machine")
    expect(page.locator("#lab-methods").get_by_label("PLD", exact=True)).not_to_be_checked()
    page.locator("#lab-run").click()
    handle.focus()
    says(page, "Finished.")
    # Results that come while a run goes on leave what the reader chose, and where the keys go.
    assert [choice.input_value() for choice in choices.all()] == ["Question answering", "free"]
    expect(handle).to_be_focused()
    assert page.locator(".ll-where").inner_text() == point
    rows = load(tmp_path / "cache" / "lab" / "mine").rows
    assert len(rows) == 24 and all(row in rows for row in kept)
    expect(page.locator("#lab-about")).to_contain_text("This is a quick run")
    expect(page.locator(".ll-bars tr[data-method=DuoDecoding] .ll-bar[data-kind=here]")).to_be_visible()
    open_part(page, "table-1")
    expect(page.locator("#lab-part table").first).to_be_attached()
    expect(page.locator("#lab-below")).to_contain_text("The paper's own values, not measured here")
    page.locator("#lab-others > button").click()
    expect(page.locator("#lab-save")).to_be_enabled()
    file = saved_by(page, page.locator("#lab-save").click, tmp_path)
    assert load(file).rows == rows
    # What is loaded may have a run's name.
    with page.expect_file_chooser() as chooser:
        page.locator("#lab-load").click()
    chooser.value.set_files(file)
    open_part(page, "compared")
    expect(page.locator("#lab-part th").filter(has_text=f"{file.stem} (loaded)").first).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 900})
    assert fits(page)
    # The report stands on its own, and its figures are saved as pictures.
    page.goto((tmp_path / "cache" / "lab" / "mine" / "report.html").as_uri())
    for kind, begin in (("svg", b"<svg"), ("png", b"\x89PNG")):
        button = page.locator(f'[data-save="figure-5"][data-format="{kind}"]')
        assert saved_by(page, button.click, tmp_path).read_bytes().startswith(begin)
    assert fits(page)


# How large its letters are on the screen.
LETTERS = "(node) => parseFloat(getComputedStyle(node).fontSize) * node.currentCSSZoom"
NOTHING_SCROLLS = """() => {
  const boxes = [document.documentElement, ...document.querySelectorAll("#tab-lab .lab-scroll, #lab-figure")];
  return boxes.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
}"""


def check_presented(page):
    """With table 1 open: map, bars, tables and figures in larger letters, nothing wider than the screen, no form."""
    read = (".ll-where", ".ll-bars th", ".ll-thumbnail", "#lab-about p", "#lab-part h2", "#lab-part td")
    before = [page.locator(part).first.evaluate(LETTERS) for part in read]
    present(page, True)
    for part, size in zip(read, before, strict=True):
        least = 1.25 if part == "#lab-part td" else 1.45
        assert page.locator(part).first.evaluate(LETTERS) >= least * size, part
    assert page.evaluate(NOTHING_SCROLLS)
    for form in ("#lab-others", "#lab-measure"):
        expect(page.locator(form)).to_be_hidden()
    open_part(page, "time")
    expect(page.locator("#lab-figure .point path").first).to_be_visible()
    page.wait_for_function(f"({NOTHING_SCROLLS})()")
    present(page, False)


def test_the_map_and_table_1_are_the_results_on_one_screen_and_the_point_moves(page, site, tmp_path, monkeypatch):
    file = Path(shutil.copy(FOLDER.parent / "results" / "two-cores.zip", tmp_path / "recorded"))
    beside = [("in the paper", target, "44.6", "–", "2.61", "1.80", "DuoDecoding") for target in ("one", "other")]
    beside.append(("on an H100", "small", "335.8", "3.2", "0.94", "0.99", "neither"))
    monkeypatch.setattr(results, "measured", lambda: beside)
    page.set_viewport_size({"width": 1280, "height": 800})
    open_lab(page, site.url)
    expected = first_view(load(file))["overview"]
    pays, speeds = expected["pays"], expected["speeds"]
    start = pays["start"]["alpha"], pays["start"]["ratio"]
    measured = {line["method"]: line["here"][speeds["tasks"][0]]["phi"] for line in speeds["lines"]}

    def check(alpha, ratio):
        """Measured where the results are, and estimated elsewhere; in which words, map.test.js tells."""
        for panel in pays["panels"]:
            is_start = (alpha, ratio) == start
            phi = measured[panel["method"]] if is_start else panel["here"][alpha][ratio]
            shown = page.locator(f'.ll-panel[data-method="{panel["method"]}"]')
            expect(shown.locator(".ll-phi")).to_have_text(f"{phi:.2f}")
            of_model = f"measured; the map: {phi * (1 + panel['error']):.2f}"
            expect(shown.locator(".ll-found")).to_contain_text(of_model if is_start else "estimate")
        steps = pays["start"]["steps"] if ratio == start[1] else pays["ratios"][ratio]
        where = f"α = {pays['alphas'][alpha]:.2f}, draft steps per target pass = {steps:.1f}."
        expect(page.locator(".ll-where")).to_contain_text(where)

    check(*start)
    page.locator(".ll-map .ll-handle").first.focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    check(start[0] + 1, start[1] + 2)
    # Dragged beyond the corner it stays inside.
    box = page.locator(".ll-map").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 1)
    page.mouse.up()
    check(len(pays["alphas"]) - 1, len(pays["ratios"]) - 1)
    line, task = speeds["lines"][-1], speeds["tasks"][0]
    bars = page.locator(f'.ll-bars tr[data-method="{line["method"]}"] .ll-bar-value').all_inner_texts()
    values = [line["here"][task]["phi"], *(line["paper"][model].get(task) for model in speeds["papers"])]
    assert bars == [f"{value:.2f}" for value in values if value is not None]
    for row, cells in zip(page.locator(".ll-hardware tbody tr").all(), beside, strict=True):
        expect(row.locator("td")).to_have_text(cells)
    expect(page.locator(".ll-hardware ~ .ll-note")).to_contain_text("this small target takes 3.0 ms")
    expect(page.locator(".ll-ways-told")).to_have_text(pays["ways"])
    expect(page.locator(".ll-speeds .ll-note")).to_contain_text(speeds["asked"])
    for part in (".ll-pays", ".ll-speeds"):
        box = page.locator(part).bounding_box()
        assert box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 800, (part, box)
    expect(page.locator(".ll-thumbnail").first).to_be_visible()
    open_part(page, "table-1")
    # The page goes to it, and no column is cut.
    expect(page.locator("#lab-part table").first).to_be_in_viewport()
    assert page.locator("#lab-part .lab-scroll").first.evaluate("node => node.scrollWidth <= node.clientWidth")
    check_presented(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert fits(page)
    page.set_viewport_size({"width": 1280, "height": 1000})
