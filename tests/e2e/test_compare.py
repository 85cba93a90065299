"""The Compare tab in a real browser: the race replayed is the race measured, whoever wrote its texts."""

import itertools
import json

import gradio as gr
import pytest
from axe_playwright_python.sync_playwright import Axe
from gradio_client import Client
from playwright.sync_api import expect

from duoviz import runner
from duoviz.comparison import outcome
from duoviz.decoding.settings import Settings
from duoviz.recordings import ENDING, FOLDER
from duoviz.trace.metrics import metrics
from duoviz.web.race import Race
from duoviz.web.visualizer import batch
from tests.benchmarks.visualizer.traces import events_of
from tests.e2e.live_tab import type_number
from tests.e2e.pages import page_in
from tests.e2e.tiny_site import served, tiny_site
from tests.e2e.visualizer.shown import play_film
from tests.e2e.visualizer.test_accessibility import serious
from tests.tiny import tiny_pair
from tests.trace.made import evenly_timed
from tests.trace.wrong_fields import changed

HOSTILE = [
    '<img src=x onerror="window.hacked=1">',
    "${window.hacked=2}",
    "</script><script>window.hacked=3</script>",
    "x" * 3000,
]
LANES = [
    runner.Lane("Vanilla", "vanilla", Settings(max_new_tokens=40)),
    runner.Lane("DuoDecoding", "duodecoding", Settings(max_new_tokens=40)),
]
# Seconds that the slower side of a race takes here: long enough to be looked at.
WALL = 1.5


# A visitor waits in the line, and the connection goes and comes back.
WAITING = [{"type": "reset"}, {"type": "status", "text": "You are number 2 in the line."}]
LOST = [*WAITING, {"type": "connection", "lost": True}]
CONNECTIONS = {"lost": LOST, "back": [*LOST, {"type": "connection", "lost": False}]}


def race_of(change=lambda rows: None):
    """The rows of a real race of a tiny pair, with times of our own, and its events."""
    pair = tiny_pair(noise=0.3)
    rows = list(runner.compare(pair, ["hello"], LANES, warmups=0))
    for row, wall in zip(rows, (WALL, 0.7 * WALL), strict=True):
        evenly_timed(row["trace"], wall)
        row["metrics"] = metrics(row["trace"])
    change(rows)
    lanes = [{"name": lane.name, "method": lane.method, "baseline": False} for lane in LANES]
    events = [{"type": "lanes", "lanes": lanes, "repeats": 1}]
    for row in rows:
        told = events_of(row["trace"])
        events += [{"type": "lane", "lane": row["method"], "repeat": 0, "event": event} for event in told]
    result = outcome(pair, LANES, rows, {})
    return rows, [*events, {"type": "end", "result": result}], result


def with_a_defect(rows):
    for row in rows:
        row["trace"]["iterations"][-1]["committed"][-1]["gap"] = 0.42
    rows[1]["trace"]["iterations"][-1]["committed"][-1]["id"] += 1


def with_hostile_texts(rows):
    texts = itertools.cycle(HOSTILE)
    for row in rows:
        for token in [token for each in row["trace"]["iterations"] for token in each["committed"]][:8]:
            token["text"] = next(texts)


@pytest.fixture(scope="module")
def races():
    """A page with one button a race, and the races."""
    busy = race_of()
    for lane in busy[2]["lanes"]:
        lane["figures"] |= {"phi": None}
    busy[2].update(disturbance="This machine was busy with other work.", headline="", sentences=[])
    made = {"plain": race_of(), "busy": busy, "defect": race_of(with_a_defect), "hostile": race_of(with_hostile_texts)}
    with gr.Blocks() as demo:
        view = Race()
        for name, (_, events, _) in made.items():
            gr.Button(name).click(lambda name=name, events=events: batch(name, 0, events), None, view)
        for name, events in CONNECTIONS.items():
            gr.Button(name).click(lambda name=name, events=events: batch(name, 0, events), None, view)
    with served(demo) as url:
        yield url, made


def show(page, url, name):
    page.goto(url)
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator(".dv-race")).to_have_attribute("data-state", "done")


def test_a_connection_that_comes_back_takes_nothing_from_what_was_said(page, races):
    page.goto(races[0])
    said = page.locator(".dv-race-message .dv-message")
    for name, told in (("lost", "The connection to the server was lost."), ("back", "You are number 2 in the line.")):
        page.get_by_role("button", name=name, exact=True).click()
        expect(said).to_have_text(told)


def finished(page):
    expect(page.locator(".dv-race")).to_have_attribute("data-playing", "false")


@pytest.fixture(scope="module")
def plain(context, races):
    """A page with the plain race, over and replayed once; each test goes on where the one before has left it."""
    page = page_in(context)
    show(page, races[0], "plain")
    finished(page)
    yield page
    page.close()


# At each frame of the replay: the clock, and of each side the tokens that can be seen.
WATCH = """() => new Promise((done) => {
  const root = document.querySelector(".dv-race");
  const seen = [], start = performance.now();
  const look = () => {
    const isVisible = (token) => getComputedStyle(token).visibility === "visible";
    const sides = Array.from(root.querySelectorAll(".dv-side"), (side) => ({
      written: Number(side.dataset.written),
      visible: Array.from(side.querySelectorAll(".dv-token")).filter(isVisible).map((token) => token.textContent),
    }));
    seen.push({ clock: Number(root.dataset.clock), sides });
    if (root.dataset.playing === "true") requestAnimationFrame(look);
    else done({ seen, seconds: (performance.now() - start) / 1000 });
  };
  document.querySelector("[aria-label='To the start']").click();
  requestAnimationFrame(() => {
    document.querySelector("[aria-label='Play']").click();
    requestAnimationFrame(look);
  });
})"""


def written_at(trace, clock):
    """The texts of the tokens that a run had written at a time."""
    return [token["text"] for each in trace["iterations"] if each["sync"] <= clock for token in each["committed"]]


def test_the_race_replayed_is_the_race_measured(plain, races):
    page, rows = plain, races[1]["plain"][0]
    watched = page.evaluate(WATCH)
    frames = watched["seen"]
    clocks = [frame["clock"] for frame in frames]
    assert clocks == sorted(clocks) and clocks[-1] == pytest.approx(WALL, abs=1e-6)
    # One clock for both, and it goes no faster than the runs did.
    assert watched["seconds"] > 0.95 * (clocks[-1] - clocks[0])
    # A frame moves the clock by a quarter of a second at most.
    assert len({frame["sides"][1]["written"] for frame in frames}) > 3
    for frame in frames:
        for side, row in zip(frame["sides"], rows, strict=True):
            expected = written_at(row["trace"], frame["clock"])
            assert side["visible"] == expected and side["written"] == len(expected)
    assert not page.errors


def side(page, number):
    return page.locator(".dv-side").nth(number)


def text_of(side):
    return "".join(side.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))


PLAY_AND_HOLD = """async () => {
  const playing = [];
  for (const _ of [1, 2]) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    playing.push(document.querySelector(".dv-race").dataset.playing);
  }
  return playing;
}"""


def test_holding_scrubbing_and_keys_move_both_sides(plain, races):
    page, rows = plain, races[1]["plain"][0]

    def check():
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        clock = float(page.locator(".dv-race").get_attribute("data-clock"))
        for number, row in enumerate(rows):
            expected = str(len(written_at(row["trace"], clock)))
            expect(side(page, number)).to_have_attribute("data-written", expected)
        return clock

    page.keyboard.press("Home")
    expect(page.locator(".dv-race")).to_have_attribute("data-clock", "0")
    check()
    moments = sorted({each["sync"] for row in rows for each in row["trace"]["iterations"]})
    for moment in moments[:4]:
        page.keyboard.press("ArrowRight")
        expect(page.locator(".dv-race")).to_have_attribute("data-clock", str(moment))
        check()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".dv-race")).to_have_attribute("data-clock", str(moments[2]))
    page.locator(".dv-race .dv-slider").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", WALL / 2
    )
    assert check() == pytest.approx(WALL / 2)
    # Playing, and held by the space key two frames later.
    page.locator(".dv-message").first.click()
    assert page.evaluate(PLAY_AND_HOLD) == ["true", "false"]
    assert WALL / 2 <= check() < WALL
    # The chart is a way to scrub too.
    page.locator(".dv-curves").click(position={"x": 400, "y": 60})
    assert 0 < check() < WALL
    # A token brings the clock to its own time.
    page.keyboard.press("End")
    token = side(page, 1).locator(".dv-token").nth(5)
    token.click()
    (moment,) = {
        each["sync"]
        for each in rows[1]["trace"]["iterations"]
        if each["index"] == int(token.get_attribute("data-iteration"))
    }
    assert check() == moment


def test_a_token_lights_up_its_twin_and_the_chart_what_both_had(plain, races):
    page, rows = plain, races[1]["plain"][0]
    page.get_by_role("button", name="To the finish").click()
    side(page, 0).locator(".dv-token").nth(7).hover()
    for number in (0, 1):
        lit = (
            side(page, number)
            .locator(".dv-token")
            .evaluate_all(
                "tokens => tokens.flatMap((token, place) => token.classList.contains('dv-twin') ? [place] : [])"
            )
        )
        assert lit == [7]
    note = page.locator(".dv-twins")
    expect(note).to_contain_text("Token 8: Vanilla wrote")
    for row in rows:
        moment = next(
            each["sync"] for each in row["trace"]["iterations"] if len(written_at(row["trace"], each["sync"])) > 7
        )
        expect(note).to_contain_text(f"at {1000 * moment:.0f} ms" if moment < 1 else f"at {moment:.2f} s")
    box = page.locator(".dv-curves").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    expect(note).to_contain_text("Vanilla had")
    assert side(page, 1).locator(".dv-group.dv-lit").count() >= 1
    page.mouse.move(5, 5)
    expect(note).to_have_text("")


def figure(page, name, number):
    return page.locator(f'.dv-figures [data-figure="{name}"]').nth(number)


def test_figures_and_curves_go_as_far_as_the_clock(plain, races):
    page, (rows, _, result) = plain, races[1]["plain"]
    page.keyboard.press("End")
    whole = page.locator(".dv-reached").get_attribute("width")
    moment = rows[1]["trace"]["iterations"][5]["sync"]
    page.locator(".dv-race .dv-slider").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", moment
    )
    expect(page.locator(".dv-race")).to_have_attribute("data-clock", str(moment))
    written = [len(written_at(row["trace"], moment)) for row in rows]
    for number, count in enumerate(written):
        expect(side(page, number).locator("[data-counter=tokens]")).to_have_text(str(count))
        speed = f"{count / moment:.1f}"
        expect(side(page, number).locator("[data-counter=tps]")).to_have_text(speed)
        expect(figure(page, "tps", number)).to_have_text(speed)
        expect(figure(page, "phi", number)).to_have_text("–")
    ahead = LANES[written[1] > written[0]].name
    lead = f"{ahead} is {abs(written[0] - written[1])} token"
    expect(page.locator(".dv-headline")).to_contain_text(lead if written[0] != written[1] else "both have written")
    expect(page.locator(".dv-verdict")).to_be_hidden()
    expect(page.locator(".dv-why")).to_be_hidden()
    assert 0 < float(page.locator(".dv-reached").get_attribute("width")) < float(whole)
    assert len(set(written)) == 2 and written[0] < len(rows[0]["token_ids"]) and result["headline"]


def test_the_finish_shows_the_figures_the_verdict_and_the_reasons(plain, races):
    page, result = plain, races[1]["plain"][2]
    page.get_by_role("button", name="To the finish").click()
    expect(page.locator(".dv-headline")).to_have_text(result["headline"])
    for number, lane in enumerate(result["lanes"]):
        figures = lane["figures"]
        shown = {name: figure(page, name, number).inner_text() for name in ("tps", "tau", "phi")}
        assert shown == {"tps": f"{figures['tps']:.1f}", "tau": f"{figures['tau']:.2f}", "phi": f"{figures['phi']:.2f}"}
        expect(side(page, number).locator("[data-counter=tokens]")).to_have_text("40")
        expect(side(page, number).locator("[data-counter=seconds]")).to_have_text(f"{figures['seconds']:.2f} s")
    expect(figure(page, "phi_same_cores", 0)).to_be_hidden()
    expect(side(page, 1).locator(".dv-tally")).to_have_text("✓ first")
    expect(page.locator(".dv-verdict")).to_have_text("✓ Equal. Both wrote the same 40 tokens.")
    # Why is told to those who ask.
    expect(page.locator(".dv-reasons")).to_be_hidden()
    page.locator(".dv-why summary").click()
    baseline = result["baselines"]["all"]
    expect(page.locator(".dv-baselines")).to_contain_text(f"{baseline['tps']:.1f} tokens/s on {baseline['device']}")
    expect(page.locator(".dv-baselines")).to_contain_text("Like for like")
    assert page.locator(".dv-reasons li").all_inner_texts() == result["sentences"] and len(result["sentences"]) >= 2
    page.locator(".dv-why summary").click()
    # Each side opens in the visualizer, and is the same run there.
    page.locator(".dv-inside summary").nth(1).click()
    inside = page.locator(".dv-inside .dv").last
    expect(inside).to_have_attribute("data-method", "duodecoding")
    expect(inside).to_have_attribute("data-state", "done")
    assert inside.locator(".dv-token").count() == 40
    side(page, 1).locator(".dv-token").nth(9).click()
    expect(inside).to_have_attribute(
        "data-shown", side(page, 1).locator(".dv-token").nth(9).get_attribute("data-iteration")
    )
    assert not page.errors


def choose_file(page, path):
    page.locator(".dv-race-top input[type=file]").set_input_files(path)


def saved_by(page, button, folder):
    """Press a button of the race's menu Files, and keep what it saves."""
    if not page.locator(".dv-race-top .dv-menu[open]").count():
        page.locator(".dv-race-top summary").click()
    with page.expect_download() as waiting:
        page.locator(".dv-race-top").get_by_role("button", name=button, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def told(page):
    """What a race comes to."""
    page.keyboard.press("End")
    expect(page.locator(".dv-verdict")).to_be_visible()
    figures = page.locator(".dv-figures [data-figure]").all_inner_texts()
    return figures, page.locator(".dv-headline").inner_text(), page.locator(".dv-verdict").inner_text()


def test_a_saved_race_opens_as_it_was_and_says_where_it_is_from(plain, page, races, tmp_path):
    url, made = races
    rows, events, result = made["plain"]
    path = saved_by(plain, "Save race", tmp_path)
    assert path.name.startswith("duoviz-race-vanilla-duodecoding-") and path.name.endswith(".duorace.json")
    recordings = [{"lane": row["method"], "repeat": 0, "trace": row["trace"]} for row in rows]
    race = {"schema": 1, "repeats": 1, "lanes": events[0]["lanes"], "recordings": recordings, "result": result}
    assert json.loads(path.read_text()) == json.loads(json.dumps(race))
    show(page, url, "busy")
    finished(page)
    busy = told(page)
    choose_file(page, path)
    expect(page.locator(".dv-race")).to_have_attribute("data-state", "recording")
    finished(page)
    assert told(page) == told(plain) != busy
    assert figure(page, "phi", 1).inner_text() == f"{result['lanes'][1]['figures']['phi']:.2f}"
    assert [text_of(side(page, number)) for number in (0, 1)] == [row["text"] for row in rows]
    header = rows[0]["trace"]["header"]
    label = page.locator(".dv-race-message")
    expect(label).to_contain_text("A recording, not a live run: the race of the file ")
    expect(label).to_contain_text(f"{path.name}; each method ran once, alone, on ")
    expect(label).to_contain_text(f"{int(header['date'][8:10])} ")
    expect(label).to_contain_text(f" on {header['target']['device'].split('(')[-1].rstrip(')')}. Prompt: ")
    for content, sentence in bad_races(race):
        (tmp_path / "bad.json").write_text(content)
        choose_file(page, tmp_path / "bad.json")
        expect(page.locator(".dv-race-top .dv-files-message")).to_contain_text(sentence)
        assert told(page) == told(plain)
    page.get_by_role("button", name="Back to the race before").click()
    expect(page.get_by_role("button", name="Back to the race before")).to_be_hidden()
    assert told(page) == busy and label.inner_text().startswith("Both runs are over.")
    assert not page.errors


def bad_races(race):
    """Files that hold no race that can be shown, and what is said of them."""
    wrong = {
        ("lanes", 1, "name"): ("Vanilla", "lanes[1].name"),
        ("lanes", 0, "baseline"): (True, "lanes[0].baseline"),
        ("recordings", 1, "lane"): ("nobody", "recordings[1]"),
        ("recordings", 1, "repeat"): (1, "recordings[1]"),
        ("recordings",): ([], "result.lanes[0].repeat"),
        ("result", "lanes"): (race["result"]["lanes"][::-1], "result.lanes"),
        ("result", "headline"): (None, "result.headline"),
        ("recordings", 0, "trace", "iterations", 3, "sync"): (-1, "recordings[0].trace.iterations[3].sync"),
    }
    for path, (value, place) in wrong.items():
        yield changed(race, path, value), f'This file is not a race that can be shown: "{place}" is missing'
    yield changed(race, ("schema",), 2), "This race has schema 2, and this page reads schema 1 at most"
    yield json.dumps(race["recordings"][0]["trace"]), "This file is the trace of one run: the Live tab opens it."
    yield "{", "This file is not a race: it is not JSON."
    yield "[1]", "This file is not a race: it holds no JSON object."


def test_a_race_is_saved_as_a_film(plain, tmp_path):
    plain.locator(".dv-race .dv-speed").select_option("4")
    path = saved_by(plain, "Save as film", tmp_path)
    assert path.name.startswith("duoviz-race-vanilla-duodecoding-") and path.name.endswith(".webm")
    shown = play_film(plain, path, [0.01, 0.99])
    # The race at four times its speed, and its finish.
    assert (shown["width"], shown["height"]) == (1280, 720) and shown["duration"] >= WALL / 4 + 1.5
    begin, end = shown["drawn"]
    assert 5 < begin < end
    expect(plain.locator(".dv-race-top .dv-files-message")).to_have_text(f"Saved as {path.name}.")
    assert plain.locator(".dv-backstage").count() == 0 and not plain.errors


def test_a_defect_is_red(page, races):
    url, _ = races
    show(page, url, "defect")
    verdict = page.locator(".dv-verdict")
    expect(verdict).to_have_attribute("data-verdict", "defect")
    expect(verdict).to_contain_text("✗ Defect. From token 40 on the texts differ, and it is no tie")
    red, *_ = verdict.evaluate("node => getComputedStyle(node).color.match(/\\d+/g).map(Number)")
    assert red > 150


def test_a_busy_machine_is_told_and_nothing_concluded(page, races):
    show(page, races[0], "busy")
    finished(page)
    expect(page.locator(".dv-headline")).to_have_text("This machine was busy with other work.")
    expect(page.locator(".dv-verdict")).to_have_attribute("data-verdict", "equal")
    assert [figure(page, "phi", number).inner_text() for number in (0, 1)] == ["–", "–"]
    expect(page.locator(".dv-why")).to_be_hidden()
    assert page.locator(".dv-tally").all_inner_texts() == ["finished", "finished"]


def test_hostile_texts_show_as_text_on_a_narrow_page(new_context, races):
    url, made = races
    # Whoever wants less motion sees the finish at once.
    context = new_context(viewport={"width": 390, "height": 900}, reduced_motion="reduce")
    page = page_in(context)
    show(page, url, "hostile")
    expect(page.locator(".dv-race")).to_have_attribute("data-clock", str(made["hostile"][0][0]["trace"]["end"]["wall"]))
    shown = text_of(side(page, 0))
    assert all(text in shown for text in HOSTILE)
    page.locator(".dv-inside summary").nth(0).click()
    expect(page.locator(".dv-inside .dv").first).to_have_attribute("data-state", "done")
    # Both are seen at once.
    tops = [side(page, number).bounding_box()["y"] for number in (0, 1)]
    assert tops[1] == tops[0]
    assert page.evaluate("window.hacked") is None and page.locator(".dv-race img, .dv-race script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    assert not page.errors
    context.close()


@pytest.fixture(scope="module")
def shipped():
    """The whole page with the recordings that come along."""
    with tiny_site(recording=FOLDER) as site:
        yield site.url


# What has been on the page from the first frame on.
LISTEN = """() => {
  window.seen = [];
  const look = () => {
    const root = document.querySelector(".dv-race");
    if (root?.dataset.playing === "true") {
      const written = Array.from(root.querySelectorAll(".dv-side"), (side) => Number(side.dataset.written));
      seen.push([Number(root.dataset.clock), ...written]);
    }
    requestAnimationFrame(look);
  };
  look();
}"""


def test_a_recorded_race_plays_as_the_tab_opens_and_gives_way_to_a_live_one(page, shipped):
    page.add_init_script(f"({LISTEN})()")
    page.goto(shipped)
    page.get_by_role("tab", name="Compare").click()
    race = page.locator(".dv-race")
    expect(race).to_have_attribute("data-state", "recording")
    finished(page)
    traces = [json.loads((FOLDER / f"{method}{ENDING}").read_text()) for method in ("vanilla", "duotree")]
    # On its own, from the beginning, at the times that were measured, and not faster than they were.
    frames = page.evaluate("seen")
    assert frames[0][0] < 0.3 and len({frame[0] for frame in frames}) > 5
    for clock, *written in frames:
        assert written == [len(written_at(trace, clock)) for trace in traces]
    expect(page.locator(".dv-race .dv-speed")).to_have_value("0.5")
    label = page.locator(".dv-race-message")
    expect(label).to_contain_text("A recording, not a live run: each method ran once, alone, on ")
    header = traces[0]["header"]
    expect(label).to_contain_text(header["target"]["device"].split("(")[1].rstrip(")"))
    expect(label.locator("q")).to_have_text(header["prompt"])
    found = [metrics(trace)["tps"] for trace in traces]
    for number, tps in enumerate(found):
        expect(figure(page, "tps", number)).to_have_text(f"{tps:.1f}")
    expect(page.locator(".dv-headline")).to_contain_text(f"{max(found):.1f} against {min(found):.1f} tokens/s")
    page.get_by_role("button", name="Settings of both").click()
    type_number(page, "compare-max-new-tokens", 24)
    page.locator("#race").click()
    expect(race).to_have_attribute("data-state", "done")
    expect(label.locator("q")).to_be_hidden()
    expect(page.locator(".dv-race .dv-speed")).to_have_value("1")
    assert not page.errors


def boxes(page, *selectors):
    """Right and bottom edges of what can be seen."""
    found = [page.locator(selector).first.bounding_box() for selector in selectors]
    return [(box["x"] + box["width"], box["y"] + box["height"]) for box in found]


RACE = (".dv-side >> nth=0", ".dv-side >> nth=1", ".dv-curves", ".dv-headline", ".dv-verdict", ".dv-figures")


# What is not a whole line at the texts' upper and lower ends, and how much is below, in lines.
PARTS_OF_LINES = """() => [...document.querySelectorAll(".dv-side .dv-text-box")].flatMap((box) => {
  const line = parseFloat(getComputedStyle(box).lineHeight);
  const below = box.scrollHeight - box.clientHeight - box.scrollTop;
  const partOf = (length) => length / line - Math.round(length / line);
  return [partOf(box.scrollTop), partOf(box.clientHeight), below / line];
})"""


def check_layout(page):
    """The texts stand at their end in whole lines; what their underlines mean is below them; nothing stands empty."""
    page.wait_for_function(f"({PARTS_OF_LINES})().every((part) => Math.abs(part) < 0.05)")
    parts = (".dv-side", ".dv-sources", ".dv-controls", ".dv-race-below", ".dv-why")
    sides, sources, controls, below, why = (page.locator(f".dv-race {part}").first.bounding_box() for part in parts)
    assert 0 <= sources["y"] - sides["y"] - sides["height"] <= 16
    assert sources["y"] + sources["height"] <= controls["y"]
    assert 0 <= why["y"] - below["y"] - below["height"] <= 20


METHODS_CHOSEN = [f"#ask-race .block:has([aria-label='{side} method'])" for side in ("First", "Second")]
PRESSED = ("#race", "#race-like-for-like", "#stop-race", "#race-settings > button")


def check_form(page):
    """On a narrow page: the prompt, both methods and what can be pressed, a row each that ends where the others do."""
    prompt = page.locator("#compare-prompt").bounding_box()
    methods, pressed = ([page.locator(part).bounding_box() for part in row] for row in (METHODS_CHOSEN, PRESSED))
    assert prompt["width"] > 350 and methods[0]["width"] == pytest.approx(methods[1]["width"], abs=1)
    for row in (methods, pressed):
        middles = [box["y"] + box["height"] / 2 for box in row]
        assert max(middles) - min(middles) < 3, middles
        assert all(one["x"] + one["width"] <= other["x"] for one, other in itertools.pairwise(row))
        assert row[0]["x"] == pytest.approx(prompt["x"], abs=2)
        assert row[-1]["x"] + row[-1]["width"] == pytest.approx(prompt["x"] + prompt["width"], abs=2)


def test_the_race_lies_on_one_screen_and_fits_a_phone(new_context, shipped):
    context = new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page = page_in(context)
    page.goto(f"{shipped}#tab=compare")
    expect(page.locator(".dv-race")).to_have_attribute("data-state", "recording")
    # Whoever wants less motion sees the finish at once.
    expect(page.locator(".dv-verdict")).to_be_visible()
    assert all(right <= 1280 and bottom <= 800 for right, bottom in boxes(page, *RACE)), boxes(page, *RACE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert not serious(Axe().run(page, context=".dv-race"))
    check_layout(page)
    page.evaluate("document.documentElement.toggleAttribute('data-present', true)")
    check_layout(page)
    page.evaluate("document.documentElement.toggleAttribute('data-present', false)")
    page.set_viewport_size({"width": 390, "height": 844})
    check_layout(page)
    check_form(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    (_, first), (_, second) = boxes(page, *RACE[:2])
    assert max(first, second) <= 844
    context.close()


def open_compare(page, url):
    page.goto(url)
    page.get_by_role("tab", name="Compare").click()
    expect(page.locator("#race")).to_be_visible()
    expect(page.locator(".dv-race")).to_have_attribute("data-state", "empty")


def test_a_race_in_the_tab_and_through_the_endpoint(page, site):
    open_compare(page, site.url)
    page.get_by_role("button", name="Settings of both").click()
    type_number(page, "compare-max-new-tokens", 24)
    expect(page.locator("#repeats input")).to_have_value("3")
    page.locator("#race-like-for-like").click()
    expect(page.locator(".dv-race")).to_have_attribute("data-state", "done")
    texts = [text_of(side(page, number)) for number in (0, 1)]
    expect(page.locator(".dv-verdict")).to_have_attribute("data-verdict", "equal")
    assert all(float(text) > 0 for text in page.locator("[data-figure=phi_same_cores]").all_inner_texts())
    expect(page.locator(".dv-figures caption")).to_contain_text("Medians of 3 rounds")
    assert page.locator(".dv-curve[data-place='2']").count() >= 1
    prompt = page.locator("#compare-prompt textarea").input_value()
    job = Client(site.url, verbose=False).submit(
        prompt=prompt, max_new_tokens=24, repeats=2, second_budget="3", api_name="/compare"
    )
    result = job.result()
    assert [lane["summary"]["text"] for lane in result["lanes"]] == texts and len(set(texts)) == 1
    assert result["lanes"][1]["summary"]["settings"]["budget"] == 3 and result["lanes"][1]["figures"]["runs"] == 2
    assert result["verdict"]["verdict"] == "equal" and result["sentences"] and "texts" in job.outputs()[0]
    assert json.dumps(result)
    # Mistakes are told in the page, and what was there stays: no race has begun.
    page.get_by_role("button", name="Settings of both").click()
    type_number(page, "compare-max-new-tokens", 0)
    page.locator("#race").click()
    expect(page.locator(".dv-race .dv-message").first).to_contain_text("max_new_tokens must be")
    assert [text_of(side(page, number)) for number in (0, 1)] == texts
    assert not page.errors


def test_stop_keeps_what_was_written_and_frees_the_place(page, site):
    open_compare(page, site.url)
    page.get_by_role("button", name="Settings of both").click()
    type_number(page, "compare-max-new-tokens", 4000)
    page.locator("#race").click()
    page.wait_for_function("() => Number(document.querySelector('.dv-side')?.dataset.tokens) > 5")
    page.locator("#stop-race").click()
    expect(page.locator(".dv-race")).to_have_attribute("data-state", "done")
    assert 5 < int(side(page, 0).get_attribute("data-tokens")) < 4000
    client = Client(site.url, verbose=False)
    result = client.predict(prompt="Hi", method="vanilla", max_new_tokens=4, api_name="/generate")
    assert result["metrics"]["new_tokens"] == 4
