"""A race in a real browser: what is replayed is what was measured, whoever wrote its texts."""

import itertools
import json
import re

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.comparison import outcome
from duoviz.decoding.settings import Settings
from duoviz.trace.metrics import metrics
from duoviz.web.race import Race
from duoviz.web.visualizer import batch
from tests.benchmarks.visualizer.traces import events_of
from tests.e2e.pages import page_in
from tests.e2e.race_tab import figure, finished, side, text_of, written_at
from tests.e2e.tiny_site import served
from tests.e2e.visualizer.shown import play_film
from tests.tiny import tiny_engine
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
TIME_OVER = "Stopped: a run may take 90 seconds here."
# Seconds that the slower side of a race takes here: long enough to be looked at.
WALL = 1.5


# A visitor waits in the line, and the connection goes and comes back.
WAITING = [{"type": "reset"}, {"type": "status", "text": "You are number 2 in the line."}]
LOST = [*WAITING, {"type": "connection", "lost": True}]
CONNECTIONS = {"lost": LOST, "back": [*LOST, {"type": "connection", "lost": False}]}


def race_of(change=lambda rows: None):
    """The rows of a real race of a tiny pair, with times of our own, and its events."""
    engine = tiny_engine(noise=0.3)
    rows = list(runner.compare(engine, ["hello"], LANES, warmups=0))
    for row, wall in zip(rows, (WALL, 0.7 * WALL), strict=True):
        evenly_timed(row["trace"], wall)
        row["metrics"] = metrics(row["trace"])
    change(rows)
    lanes = [{"name": lane.name, "method": lane.method, "baseline": False} for lane in LANES]
    events = [{"type": "lanes", "lanes": lanes, "repeats": 1}]
    for row in rows:
        told = events_of(row["trace"])
        events += [{"type": "lane", "lane": row["method"], "repeat": 0, "event": event} for event in told]
    result = outcome(engine, LANES, rows, {})
    return rows, [*events, {"type": "end", "result": result}], result


def with_a_defect(rows):
    for row in rows:
        row["trace"]["iterations"][-1]["committed"][-1]["gap"] = 0.42
    rows[1]["trace"]["iterations"][-1]["committed"][-1]["id"] += 1


def with_the_second_cut(rows):
    trace = rows[1]["trace"]
    del trace["iterations"][3:]
    rows[1]["stopped"] = trace["end"]["stopped"] = "stopped"
    rows[1]["metrics"] = metrics(trace)
    rows[1]["token_ids"] = [token["id"] for each in trace["iterations"] for token in each["committed"]]


def cut_later(race):
    """The race with a second round that the time limit has cut."""
    (*_, row), (begin, *first_round, end), result = race
    *told, last = events_of(row["trace"])
    told.append(last | {"end": last["end"] | {"stopped": "time", "message": TIME_OVER}})
    second_round = [{"type": "lane", "lane": row["method"], "repeat": 1, "event": event} for event in told]
    return None, [begin | {"repeats": 2}, *first_round, *second_round, end], result


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
    made["cut"], made["half"] = cut_later(made["plain"]), race_of(with_the_second_cut)
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


RACE_ALONE = """async (events) => {
  const { mountRace } = await import("http://plain.test/race/mount_race.js");
  let send = null;
  mountRace(document.body.appendChild(document.createElement("div")), { subscribe(callback) { send = callback; } });
  events.forEach(send);
}"""


def test_what_was_written_before_an_error_stays_in_sight(modules, races):
    rows, events, _ = races[1]["plain"]
    told = [*events[:-4], {"type": "error", "message": "The server is going down."}]
    modules.evaluate(RACE_ALONE, told)
    expect(modules.locator(".dv-race")).to_have_attribute("data-state", "error")
    syncs = [event["event"]["iteration"]["sync"] for event in told if event.get("event", {}).get("type") == "iteration"]
    expect(modules.locator(".dv-race")).to_have_attribute("data-clock", f"{max(syncs):g}")
    for number in range(2):
        expect(side(modules, number)).to_have_attribute("data-tokens", re.compile("[1-9]"))
        tokens = side(modules, number).get_attribute("data-tokens")
        expect(side(modules, number)).to_have_attribute("data-written", tokens)
    assert not modules.errors


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
        for seen, row in zip(frame["sides"], rows, strict=True):
            expected = written_at(row["trace"], frame["clock"])
            assert seen["visible"] == expected and seen["written"] == len(expected)
    assert not page.errors


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
    expect(label).to_contain_text(f" on {header['target']['device'].partition(' (')[2].removesuffix(')')}. Prompt: ")
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
    # A busy machine draws few pictures a second: at its real speed the race is long enough for some.
    plain.locator(".dv-race .dv-speed").select_option("1")
    path = saved_by(plain, "Save as film", tmp_path)
    assert path.name.startswith("duoviz-race-vanilla-duodecoding-") and path.name.endswith(".webm")
    shown = play_film(plain, path, [0.01, 0.99])
    # The race, and its finish.
    assert (shown["width"], shown["height"]) == (1280, 720) and shown["duration"] >= WALL + 1.5
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


def test_a_race_that_was_cut_in_a_later_round_says_so(page, races):
    show(page, races[0], "cut")
    expect(page.locator(".dv-race-message .dv-message")).to_have_text(TIME_OVER)


def test_a_side_that_was_cut_is_not_first_and_nothing_is_concluded_from_it(page, races):
    show(page, races[0], "half")
    finished(page)
    assert page.locator(".dv-tally").all_inner_texts() == ["finished", "cut short"]
    expect(page.locator(".dv-headline")).to_have_text("")
    assert [figure(page, "phi", number).inner_text() for number in (0, 1)] == ["1.00", "–"]
    expect(page.locator(".dv-why")).to_be_hidden()
    expect(page.locator(".dv-figures caption")).to_have_text("One round")


@pytest.mark.parametrize(
    "runs, words", [([1, 1], "One round"), ([3, 3], "Medians of 3 "), ([2, 1], "Medians of 2 and 1 ")]
)
def test_the_figures_say_of_how_many_rounds_they_are(modules, runs, words):
    draw = """async (runs) => {
      const { createFigures } = await import("http://plain.test/race/figures.js");
      const { emptyState } = await import("http://plain.test/visualizer/state.js");
      const [state, figures] = [{ ...emptyState(), iterations: [{ sync: 1 }] }, (runs) => ({ runs })];
      const lanes = ["one", "two"].map((name) => ({ name, baseline: false, state }));
      const result = { lanes: runs.map((each) => ({ figures: figures(each) })), baselines: { target: null } };
      const shown = createFigures({ race: { phase: "done", clock: 1, lanes, result } });
      shown.draw();
      return shown.node.querySelector("caption").textContent;
    }"""
    assert modules.evaluate(draw, runs).startswith(words)


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
