"""The Lab's tab in a real browser: a run that is stopped and goes on, what it shows, saving, loading."""

import re

import pytest
from playwright.sync_api import expect

from duoviz.lab.results import load
from duoviz.web import lab_run
from tests.lab.asked import hold_after


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setattr(lab_run, "RECORDED", tmp_path / "recorded")
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path / "cache"))
    (tmp_path / "recorded").mkdir()


def open_lab(page, url):
    page.goto(url)
    page.get_by_role("tab", name="Lab").click()
    expect(page.locator("#lab-results")).to_be_visible()


def choose_little(page):
    for group, names in {
        "lab-tasks": ("MT-Bench", "Translation", "Summarization", "Math", "Retrieval", "Code"),
        "lab-methods": ("PLD", "REST", "Lookahead"),
    }.items():
        for name in names:
            page.locator(f"#{group}").get_by_label(name, exact=True).uncheck()
    page.locator("#lab-name input, #lab-name textarea").fill("mine")


def load_file(page, file):
    with page.expect_file_chooser() as chooser:
        page.locator("#lab-load").click()
    chooser.value.set_files(file)


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
        says(page, "Stopped. What is finished is kept.")
    kept = load(tmp_path / "cache" / "lab" / "mine").rows
    assert len(kept) == 5
    page.locator("#lab-run").click()
    says(page, "Finished.")
    rows = load(tmp_path / "cache" / "lab" / "mine").rows
    assert len(rows) == 24 and all(row in rows for row in kept)
    for name in ("table-1", "table-2", "table-3", "table-4", "cost-model", "checks", "environment"):
        expect(page.locator(f"#lab-{name} table").first).to_be_visible()
    for name in ("figure-1", "figure-3", "figure-4", "figure-5", "time", "cost-model", "pays"):
        expect(page.locator(f"#lab-{name}-figure .js-plotly-plot")).to_be_attached()
    expect(page.locator("#lab-about")).to_contain_text("This is a quick run")
    expect(page.locator("#lab-table-1")).to_contain_text("The paper's own values, not measured here")
    expect(page.locator("#lab-save")).to_be_enabled()
    with page.expect_download() as download:
        page.locator("#lab-save").click()
    # What is loaded may have a run's name.
    file = tmp_path / "mine.zip"
    download.value.save_as(file)
    assert load(file).rows == rows
    load_file(page, file)
    expect(page.locator("#lab-compared")).to_contain_text("Several results side by side")
    for name in ("mine", "mine (loaded)"):
        heading = re.compile(rf"^{re.escape(name)}\W*tokens/s")
        expect(page.locator("#lab-compared th").filter(has_text=heading)).to_be_visible()
    file.write_text("no zip")
    load_file(page, file)
    says(page, "mine.zip holds no results of the Lab, or damaged ones: it is no zip, or is cut off.")
    page.locator("#lab-name input, #lab-name textarea").fill("x.zip")
    page.locator("#lab-run").click()
    says(page, "A name does not end in .zip")
    page.locator("#lab-name input, #lab-name textarea").fill("../up")
    page.locator("#lab-run").click()
    says(page, "A name has letters, digits")
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # The report stands on its own, and its figures are saved as pictures.
    page.goto((tmp_path / "cache" / "lab" / "mine" / "report.html").as_uri())
    for kind, begin in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as download:
            page.locator(f'[data-save="figure-5"][data-format="{kind}"]').click()
        assert download.value.path().read_bytes().startswith(begin)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not page.errors
