"""Traces and pictures, saved and loaded."""

import itertools
import json
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.e2e.visualizer.shown import READ_ITERATIONS, download, load, play_film, saved_to, show
from tests.trace.wrong_fields import WRONG_FIELDS, changed


def view_of(page):
    numbers = page.locator("[data-number]:not([data-number=phi])").all_inner_texts()
    text = page.locator(".dv-text-box").inner_text()
    return numbers, text, page.locator(".dv-message").inner_text(), page.evaluate(READ_ITERATIONS)


def test_a_saved_trace_shows_the_same_when_loaded(page, methods_page, traces, tmp_path):
    show(page, methods_page, "duodecoding")
    path = download(page, "Save trace", tmp_path)
    assert path.name.endswith(".duoviz.json")
    assert json.loads(path.read_text()) == traces["duodecoding"]
    before = view_of(page)
    show(page, methods_page, "rest")
    load(page, path)
    expect(page.locator(".dv")).to_have_attribute("data-method", "duodecoding")
    expect(page.locator(".dv")).to_have_attribute("data-iterations", str(len(traces["duodecoding"]["iterations"])))
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    assert without_places(view_of(page)) == without_places(before)
    page.get_by_role("button", name="Back to your run").click()
    expect(page.locator(".dv")).to_have_attribute("data-iterations", str(len(traces["rest"]["iterations"])))
    expect(page.get_by_role("button", name="Back to your run")).to_be_hidden()
    assert not page.errors


def without_places(view):
    numbers, text, message, iterations = view
    for node in itertools.chain.from_iterable(each["nodes"] for each in iterations):
        node.pop("top", None)
    return numbers, text, message, iterations


DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  document.querySelector(".dv").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true}));
}"""


def test_every_methods_file_can_be_dropped(page, methods_page, traces):
    page.goto(methods_page)
    expect(page.locator(".dv")).to_have_attribute("data-state", "empty")
    for method, trace in traces.items():
        page.evaluate(DROP, [f"{method}.duoviz.json", json.dumps(trace)])
        expect(page.locator(".dv-files-message")).to_have_text(f"Shown: the file {method}.duoviz.json.")
        expect(page.locator(".dv")).to_have_attribute("data-method", method)
        expect(page.locator(".dv")).to_have_attribute("data-state", "done")
        expect(page.locator(".dv")).to_have_attribute("data-iterations", str(len(trace["iterations"])))
    assert not page.errors


def test_older_traces_do_not_say_how_much_matched(page, methods_page, traces, tmp_path):
    page.goto(methods_page)
    sentences = {
        "prompt_lookup": "The end of the text stood earlier",
        "rest": "The end of the text stood in the datastore",
    }
    for method, sentence in sentences.items():
        trace = json.loads(json.dumps(traces[method]))
        for each in trace["iterations"]:
            del each["matched"]
        load(page, saved_to(tmp_path, trace))
        expect(page.locator(".dv")).to_have_attribute("data-method", method)
        place = next(each["index"] for each in trace["iterations"] if len(each["checked"]) > 1)
        page.locator(".dv-slider").fill(str(place))
        expect(page.locator(".dv-sentence")).to_contain_text(sentence)
    assert not page.errors


def check_chrome_trace(events, trace):
    names = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    device = {side: trace["header"][side]["device"] for side in ("target", "draft")}
    assert names == {1: f"Target · {device['target']}", 2: f"Draft · {device['draft']}"}
    bars = [each for each in events if each["ph"] == "X"]
    assert {each["ph"] for each in events} == {"X", "M"}
    for tid, spans in (
        (1, [each["target"] for each in trace["iterations"]]),
        (2, [step for each in trace["iterations"] for step in each["draft"]]),
    ):
        shown = [(each["ts"], each["ts"] + each["dur"]) for each in bars if each["tid"] == tid]
        assert shown == [pytest.approx((1e6 * span["start"], 1e6 * span["end"]), abs=0.01) for span in spans]


SVG = "{http://www.w3.org/2000/svg}"
PICTURES = {
    "Tree": ("dv-node", ["DuoDecoding, iteration ", "accepted: the target agrees", "rejected: the target disagrees"]),
    "Timeline": ("dv-bar", ["DuoDecoding: ", "target forward, tokens", "draft step, tokens", "end of an iteration"]),
    "Charts": ("dv-line", ["DuoDecoding: ", "tokens written, 0 to ", "θ threshold, 0 to 1", "Iterations by k"]),
}


def test_timeline_and_pictures_are_saved(page, methods_page, traces, tmp_path):
    show(page, methods_page, "duodecoding")
    check_chrome_trace(json.loads(download(page, "Timeline for Perfetto", tmp_path).read_text()), traces["duodecoding"])
    for part, (marks, words) in PICTURES.items():
        picture = ElementTree.parse(download(page, f"{part} as SVG", tmp_path)).getroot()
        drawings = picture.findall(f"{SVG}svg")
        marked = [each for each in picture.iter() if marks in each.get("class", "").split()]
        assert len(marked) == page.locator(f".{marks}").count() - page.locator(f"[hidden] .{marks}").count()
        assert all("fill:" in each.get("style", "") for each in marked)
        if part == "Tree":
            # A token that is written from right to left turns no other.
            labels = [each for each in picture.iter(f"{SVG}text") if "dv-label" in each.get("class", "")]
            assert labels and all("unicode-bidi:isolate" in each.get("style").replace(": ", ":") for each in labels)
        assert not {"http:", "https:"} & {each.get("href", "")[:6] for each in picture.iter()}
        told = "".join(picture.itertext())
        assert f"“{traces['duodecoding']['header']['prompt']}”" in told and all(each in told for each in words)
        # What the marks mean stands under the drawing, and what was asked above.
        width, height = (float(picture.get(side)) for side in ("width", "height"))
        top = min(float(each.get("y")) for each in drawings)
        bottom = max(float(each.get("y")) + float(each.get("height")) for each in drawings)
        assert top > 20 and height - bottom > 20
        png = download(page, f"{part} as PNG", tmp_path).read_bytes()
        assert png.startswith(b"\x89PNG")
        assert [int.from_bytes(png[place : place + 4], "big") for place in (16, 20)] == [2 * width, 2 * height]
    assert not page.errors


def film(page, first, last):
    if not page.locator(".dv-menu-files[open]").count():
        page.locator(".dv-menu-files summary").click()
    page.get_by_label("First iteration of the film").fill(first)
    page.get_by_label("Last iteration of the film").fill(last)
    page.get_by_role("button", name="Save as film").click()


def test_iterations_are_saved_as_a_film(page, methods_page, traces, tmp_path):
    show(page, methods_page, "duodecoding")
    message, last = page.locator(".dv-files-message"), len(traces["duodecoding"]["iterations"]) - 1
    page.locator(".dv-slider").fill("2")
    # From the iteration shown on.
    page.locator(".dv-menu-files summary").click()
    expect(page.get_by_label("First iteration of the film")).to_have_value("2")
    expect(page.get_by_label("Last iteration of the film")).to_have_value("7")
    for wrong in (("4", "3"), ("0", str(last + 1)), ("", "3"), ("1.5", "3"), ("-1", "3")):
        film(page, *wrong)
        told = f"A film goes from one iteration to the same or a later one, from 0 to {last}."
        expect(message).to_have_text(told)
        message.evaluate("node => { node.textContent = '' }")
    film(page, "0", str(last))
    expect(message).to_contain_text("seconds, while this page is in sight.")
    assert page.locator(".dv-backstage .dv-bar").first.bounding_box()["x"] < 0
    # On a phone too.
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    page.get_by_role("button", name="Cancel").click()
    page.set_viewport_size({"width": 1280, "height": 1000})
    expect(message).to_have_text("Cancelled: no film was saved.")
    expect(page.locator(".dv-filming")).to_be_hidden()
    with page.expect_download() as waiting:
        film(page, "3", "3")
    name = waiting.value.suggested_filename
    waiting.value.save_as(tmp_path / name)
    assert name.startswith("duoviz-duodecoding-") and name.endswith("-iterations-3-to-3.webm")
    expect(message).to_have_text(f"Saved as {name}.")
    shown = play_film(page, tmp_path / name, [0.02, 0.8])
    assert (shown["width"], shown["height"]) == (1280, 720) and shown["duration"] >= 2.5
    # The guesses have come, and what became of them.
    begin, end = shown["drawn"]
    assert 5 < begin < end
    # Filming has left the page as it was.
    expect(page.locator(".dv")).to_have_attribute("data-shown", "2")
    assert page.locator(".dv-backstage").count() == 0
    page.evaluate("delete window.MediaRecorder")
    film(page, "3", "3")
    expect(message).to_have_text("This browser cannot record WebM: Chrome, Edge and Firefox can.")
    assert not page.errors


def test_a_bad_file_gives_a_sentence_and_changes_nothing(page, methods_page, traces, tmp_path):
    trace = traces["duodecoding"]
    show(page, methods_page, "vanilla")
    shown, message = page.locator(".dv-token").all_inner_texts(), page.locator(".dv-files-message")
    cases = [(changed(trace, path, value), f'"{told}"') for path, value, told in WRONG_FIELDS]
    cases += [("", "it is not JSON"), ("[1]", "no JSON object"), ("{" * 9, "it is not JSON"), ("{}", '"header"')]
    cases += [("{" * 50, "it is nested deeper than 32 levels"), ("9" * 310, "it has a number that is too large")]
    cases += [(changed(trace, ("header", "schema"), 2), "has schema 2, and this page reads schema 1 at most")]
    cases += [(changed(trace, ("iterations",), []), "no iterations")]
    cases += [('{"recordings": []}', "This file holds a race: the Compare tab opens it.")]
    for number, (content, sentence) in enumerate(cases):
        load(page, saved_to(tmp_path, content, f"{number}.json"))
        expect(message).to_contain_text(sentence)
        # The next sentence may be the same one.
        message.evaluate("node => { node.textContent = '' }")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(51_000_000)
    load(page, tmp_path / "huge.json")
    expect(message).to_have_text("This file has 51 MB, and a trace may have at most 50 MB.")
    assert page.locator(".dv-token").all_inner_texts() == shown
    expect(page.locator(".dv")).to_have_attribute("data-iterations", str(len(traces["vanilla"]["iterations"])))
    assert not page.errors


# Strings that look like the file's own signs, in a file that is long enough to be read in several parts.
TRICKY = {
    "header": {"iterations": [1], "prompt": 'say "iterations": [{'},
    "iterations": [{"text": '"],[}{,\\' * 100, "\\": [number, [{}]]} for number in range(300)],
    "end": "iterations",
}
PARSE = """async (text) => {
  const { parseJson } = await import("/visualizer/parse.js");
  const { value, problem } = await parseJson(text);
  return problem ?? JSON.stringify(value);
}"""


@pytest.mark.parametrize("options", [{}, {"indent": 2}, {"separators": (",", ":")}, {"sort_keys": True}])
def test_a_long_file_is_read_in_parts_as_in_one(plain_page, options):
    text = json.dumps(TRICKY, **options)
    assert len(text) > 300_000
    assert json.loads(plain_page.evaluate(PARSE, text)) == TRICKY
    commas = [place for place, sign in enumerate(text) if sign == "," and text[:place].rstrip()[-1] == "}"]
    for place in (*commas[::17], text.rindex("]")):
        assert plain_page.evaluate(PARSE, f"{text[:place]},{text[place:]}") == "is not JSON"
    for place in (text.index("}"), text.rindex("}"), text.rindex("]")):
        assert plain_page.evaluate(PARSE, text[:place] + text[place + 1 :]) == "is not JSON"


@pytest.mark.parametrize("begin", ["", '{"iterations": [{}], "later": ', '{"iterations": [1, '])
def test_what_is_too_deep_too_large_or_no_number_is_not_parsed(plain_page, begin):
    end = begin and (", 2]}" if begin.endswith("1, ") else "}")
    levels = 32 - begin.count("[") - begin.count("{") + (2 if "later" in begin else 0)
    strings = json.dumps(["[" * 100, '"[[[', "1e999", "9" * 50])
    for text in (
        "[" * levels + "]" * levels,
        '{"a":' * levels + "1" + "}" * levels,
        strings,
        "1.5e300",
        "1" + "0" * 40,
    ):
        whole = f"{begin}{text}{end}"
        assert json.loads(plain_page.evaluate(PARSE, whole), parse_int=float) == json.loads(whole, parse_int=float)
    for text, told in {
        "[" * (levels + 1) + "]" * (levels + 1): "is nested deeper than 32 levels",
        '{"a":' * 100_000: "is nested deeper than 32 levels",
        "2E+0308": "has a number that is too large",
        '{"a": [-1e999]}': "has a number that is too large",
        "9" * 400: "has a number that is too large",
        "[" + "[]," * 6_000_000 + "1]": "has more than 20,000,000 values",
        "[" + "{}," * 3_000_000 + "1]": "has more than 20,000,000 values",
    }.items():
        assert plain_page.evaluate(PARSE, f"{begin}{text}{end}") == told
