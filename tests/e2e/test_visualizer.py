"""The visualizer in a real browser: what is drawn is the trace, whoever wrote its texts, and whoever plays it."""

import itertools
import json
from xml.etree import ElementTree

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import vanilla
from duoviz.trace.metrics import metrics
from duoviz.web.visualizer import FOLDER, Visualizer, batch
from tests.conftest import VOCABULARY, tiny_pair
from tests.decoding.test_datastore import build, named_pair, random_sequences
from tests.decoding.test_prompt_lookup import tokens

HOSTILE = [
    '<img src=x onerror="window.hacked=1">',
    "${window.hacked=2}",
    "{{x}}",
    "</script><script>window.hacked=3</script>",
    "x" * 10_000,
    "\u202eright to left",
    "\u200b\u200d",
    "\x07\x1b[31m",
]


def events_of(trace):
    iterations = [{"type": "iteration", "iteration": each} for each in trace["iterations"]]
    end = {"type": "end", "end": trace["end"], "metrics": metrics(trace)}
    return [{"type": "header", "header": trace["header"]}, *iterations, end]


def hostile_events():
    """A real run of a tiny pair, with each text replaced by a hostile one."""
    trace = runner.collect(runner.stream(tiny_pair(noise=0.3), "duodecoding", "hello", Settings(max_new_tokens=40)))
    # A cycle for each list: how many nodes a run has depends on its timing, and every text must be committed once.
    for name in ("committed", "checked", "drafted", "candidates"):
        texts = itertools.cycle(HOSTILE)
        for each in trace["iterations"]:
            for entry in each[name]:
                entry["text"] = next(texts)
    trace["end"] = runner.end(trace["iterations"], "length")
    return trace, events_of(trace)


@pytest.fixture(scope="module")
def hostile_page():
    trace, events = hostile_events()
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        gr.Button("Feed").click(lambda: batch("run", 0, events), None, visualizer)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    yield url, trace
    demo.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_texts_show_as_text(page, hostile_page, tmp_path, width):
    url, trace = hostile_page
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(url)
    page.get_by_role("button", name="Feed").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=20_000)
    shown = "".join(page.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))
    for text in HOSTILE[:4]:
        assert text in trace["end"]["text"]
        assert text in shown
    for _ in range(len(trace["iterations"]) // 2):
        page.keyboard.press("ArrowLeft")
    for part in ("Tree", "Timeline"):
        ElementTree.parse(download(page, f"{part} as SVG", tmp_path))
    assert page.evaluate("window.hacked") is None
    assert page.locator(".dv img, .dv script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    assert not page.errors


CHARTS = {
    "vanilla": [],
    "speculative": ["γ draft budget"],
    "prompt_lookup": [],
    "rest": [],
    "lookahead": [],
    "duodecoding": ["k sequences", "γ draft budget", "θ threshold"],
}
DUO = ["k", "gamma", "theta"]
OWN_SETTINGS = {"prompt_lookup": {"lookup_ngram": 2}, "rest": {"rest_shortest": 1}}
PROMPT = "hello hello"


def datastore_of(folder):
    """A datastore of what the tiny target writes and of other texts."""
    pair = named_pair()
    runs = [Settings(max_new_tokens=60, temperature=temperature, seed=1) for temperature in (0.3, 0.6, 1.2)]
    written = [tokens(vanilla(pair, pair.encode(PROMPT), run)) for run in runs]
    return build(written + random_sequences(0, tokens=VOCABULARY), folder)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """A real run of each method by a tiny pair."""
    store = datastore_of(tmp_path_factory.mktemp("visualizer") / "store")
    runs = {}
    for method in METHODS:
        settings = Settings(max_new_tokens=32, rest_datastore=str(store), **OWN_SETTINGS.get(method, {}))
        pair = named_pair(noise=0.3)
        runs[method] = runner.collect(runner.stream(pair, method, PROMPT, settings))
    return runs


@pytest.fixture(scope="module")
def methods_page(traces):
    """One button a method, which shows its run."""
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        for method, trace in traces.items():
            value = batch(method, 0, events_of(trace))
            gr.Button(method).click(lambda value=value: value, None, visualizer)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    yield url
    demo.close()


def show(page, url, method):
    page.goto(url)
    page.get_by_role("button", name=method, exact=True).click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done", timeout=20_000)
    page.mouse.move(600, 400)


def test_every_method_is_tested():
    assert set(CHARTS) == set(METHODS)


SOURCE_OF = {
    "speculative": ["draft"],
    "duodecoding": ["draft"],
    "prompt_lookup": ["prompt"],
    "rest": ["datastore"],
    "lookahead": ["lookahead"],
}
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
    });
    await press("ArrowRight");
  }
  return shown;
}"""


def likelihood(node, nodes):
    """What an edge's thickness stands for."""
    if node["q"] is not None or node["count"] is None:
        return node["q"]
    siblings = sum(other["count"] for other in nodes if other["parent"] == node["parent"] and other["count"])
    return node["count"] / (nodes[node["parent"]]["count"] if node["parent"] >= 0 else siblings)


def check_edges(drawn, iteration):
    for edge in drawn["edges"]:
        nodes = iteration[edge["list"]]
        share = likelihood(nodes[int(edge["index"])], nodes)
        assert edge["width"] == pytest.approx(1.25 if share is None else 1 + 6 * share, abs=0.01)


def check_window(drawn):
    """The window stands below the guesses, calm: without edges."""
    tops = {
        state: [node["top"] for node in drawn["nodes"] if (node["status"] == "window") is state] for state in (0, 1)
    }
    if tops[True]:
        assert max(tops[False]) < min(tops[True])
    assert not any(edge["status"] == "window" for edge in drawn["edges"])


def check_parts(page, method):
    """Only what the method has is drawn."""
    titles = page.locator(".dv-chart:visible .dv-subheading")
    shown = titles.evaluate_all("titles => titles.map(t => t.firstChild.data)")
    assert shown == CHARTS[method] + (["Iterations by k"] if "k sequences" in CHARTS[method] else [])
    assert page.get_by_text("This method has no sequences").is_visible() == (not CHARTS[method])
    numbers = page.locator("[data-number]:visible").evaluate_all("all => all.map(each => each.dataset.number)")
    own = {"vanilla": [], "speculative": ["acceptance", "gamma"], "duodecoding": ["acceptance", "overlap", *DUO]}
    assert sorted(numbers) == sorted(["tps", "tau", "ttft", *own.get(method, ["acceptance"])])
    lanes = page.locator("text.dv-lane-label").evaluate_all("labels => labels.map(label => label.dataset.lane)")
    assert lanes == (["target", "draft"] if CHARTS[method] else ["target"])
    sources = page.locator(".dv-legend .dv-sample").evaluate_all("marks => marks.map(mark => mark.dataset.source)")
    assert sources == [*SOURCE_OF.get(method, []), "target"]


def check_nodes(drawn, iteration):
    expected = {(name, i): node for name in ("checked", "drafted") for i, node in enumerate(iteration[name])}
    shown = {(node["list"], int(node["index"])): node for node in drawn["nodes"]}
    assert shown.keys() == expected.keys()
    for key, node in shown.items():
        said = [expected[key][name] for name in ("status", "source", "text")]
        assert [node["status"], node["source"], node["label"]] == said
        if expected[key]["status"] != "window":
            assert f"{said[0]}, {SOURCE_WORDS[said[1]]}" in node["title"]
        if expected[key]["count"] is None:
            assert node.get("count") is None
        else:
            assert node["count"] == f"×{expected[key]['count']}"
            assert f"stood there {counted(expected[key]['count'], 'time')} in the datastore" in node["title"]


def counted(number, word, plural=None):
    return f"{number} {word if number == 1 else plural or word + 's'}"


def check_sentence(told, method, iteration, written):
    """The counts in the sentence, counted here from the trace."""
    proposed = [node for node in iteration["checked"] if node["status"] not in ("correction", "window")]
    leaves = sum(all(node["parent"] != index for node in proposed) for index in range(len(proposed)))
    full = "There was room for one token only" if written == 31 else None
    if method == "duodecoding":
        roots = [node for node in iteration["drafted"] if node["parent"] == -1 and node["status"] != "correction"]
        if iteration["mode"] != "prefill" and iteration["verdict"]["outcome"] in ("hit", "miss") and roots:
            assert f"{counted(len(roots), 'sequence')} started" in told
            assert f'{roots[0]["q"]:.2f} for "{roots[0]["text"]}"' in told
        return
    if method == "vanilla":
        assert "computed one token" in told
    elif not proposed:
        assert (full or NOTHING_PROPOSED[method]) in told
    else:
        guesses = "1 guess from the pool was" if leaves == 1 else f"{leaves} guesses from the pool were"
        followed = f"the {len(proposed)} tokens that followed" if len(proposed) > 1 else "one token followed"
        start = {
            "speculative": f"The draft proposed {counted(len(proposed), 'token')} ({proposed[0]['q'] or 0:.2f} for",
            "prompt_lookup": f"The end of the text stood earlier in the text; {'of ' * (len(proposed) > 1)}{followed}",
            "rest": f"The datastore knew {counted(len(proposed), 'token')} in {counted(leaves, 'branch', 'branches')};",
            "lookahead": f"{guesses} verified;",
        }
        assert start[method] in told
        accepted = sum(node["status"] == "accepted" for node in proposed)
        assert (f"agreed with {accepted}" in told) == (0 < accepted < len(proposed))
    assert f'"{iteration["checked"][-1]["text"]}"' in told
    assert told.startswith("The target read the prompt (11 tokens)") == (iteration["index"] == 0)


SOURCE_WORDS = {
    "draft": "from the draft",
    "target": "from the target",
    "prompt": "found earlier in the text",
    "datastore": "from the datastore",
    "lookahead": "guessed by Lookahead",
}
NOTHING_PROPOSED = {
    "prompt_lookup": "Nothing like the end of the text stood earlier, so the target wrote one token",
    "rest": "The datastore knew nothing like the end of the text, so the target wrote one token",
    "lookahead": "The pool held no guess that begins with the last token, so the target wrote one token",
}


@pytest.mark.parametrize("method", CHARTS)
def test_what_is_drawn_is_the_trace(page, methods_page, traces, method):
    show(page, methods_page, method)
    check_parts(page, method)
    written = 0
    for drawn, iteration in zip(page.evaluate(READ_ITERATIONS), traces[method]["iterations"], strict=True):
        assert drawn["position"] == iteration["index"]
        check_nodes(drawn, iteration)
        check_edges(drawn, iteration)
        check_window(drawn)
        check_sentence(drawn["sentence"], method, iteration, written)
        written += len(iteration["committed"])
    assert not page.errors


def test_the_runs_have_what_is_tested(traces):
    """Trees of a datastore with branches, guesses and windows, proposals accepted and rejected."""
    nodes = {method: [node for each in run["iterations"] for node in each["checked"]] for method, run in traces.items()}
    for method in ("speculative", "prompt_lookup", "rest", "lookahead"):
        assert {"accepted", "rejected"} <= {node["status"] for node in nodes[method]}, method
    assert "window" in {node["status"] for node in nodes["lookahead"]}
    assert max(len(each["checked"]) for each in traces["rest"]["iterations"]) > 60


def test_a_long_tree_scrolls_inside_its_own_box(page, methods_page, traces):
    page.set_viewport_size({"width": 390, "height": 900})
    show(page, methods_page, "rest")
    sizes = [len(each["checked"]) for each in traces["rest"]["iterations"]]
    page.locator(".dv-slider").fill(str(sizes.index(max(sizes))))
    expect(page.locator(".dv")).to_have_attribute("data-shown", str(sizes.index(max(sizes))))
    box = page.locator(".dv-tree-box")
    assert box.evaluate("box => box.scrollHeight > box.clientHeight && box.clientHeight <= 430")
    own = page.locator('g.dv-node[data-status="correction"]').bounding_box()
    outer = box.bounding_box()
    assert outer["y"] <= own["y"] and own["y"] + own["height"] <= outer["y"] + outer["height"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")


@pytest.fixture(scope="module")
def pair_page(traces):
    """Two visualizers and a text field."""
    with gr.Blocks() as demo:
        gr.Textbox(label="Prompt")
        shown = [Visualizer(elem_id="one"), Visualizer(elem_id="two")]
        values = [batch(method, 0, events_of(traces[method])) for method in ("vanilla", "rest")]
        gr.Button("Feed").click(lambda: values, None, shown)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    yield url
    demo.close()


def test_keys_go_to_the_visualizer_used_last(page, pair_page, traces):
    page.set_viewport_size({"width": 1280, "height": 1900})
    page.goto(pair_page)
    page.get_by_role("button", name="Feed").click()
    roots = [page.locator(f"#{name} .dv") for name in ("one", "two")]
    for root in roots:
        expect(root).to_have_attribute("data-state", "done", timeout=20_000)
    at = [len(traces[method]["iterations"]) - 1 for method in ("vanilla", "rest")]

    def after_key(key, *moved):
        page.keyboard.press(key)
        for index, by in enumerate(moved):
            at[index] += by
            expect(roots[index]).to_have_attribute("data-shown", str(at[index]))

    page.mouse.move(5, 5)
    after_key("ArrowLeft", -1, 0)
    roots[1].locator(".dv-message").hover()
    after_key("ArrowLeft", 0, -1)
    roots[0].locator(".dv-message").click()
    after_key("ArrowLeft", -1, 0)
    roots[1].get_by_role("button", name="Step back").focus()
    after_key("ArrowLeft", 0, -1)
    page.get_by_label("Prompt").click()
    for key in ("ArrowLeft", "Home", "l", " "):
        after_key(key, 0, 0)
    assert page.get_by_label("Prompt").input_value() == "l "


@pytest.fixture(scope="module")
def live_page(traces):
    """A run that comes in three parts, one a button."""
    events = events_of(traces["duodecoding"])
    parts = [events[:11], events[11:17], events[17:]]
    with gr.Blocks() as demo:
        visualizer = Visualizer()
        for number, part in enumerate(parts):
            value = batch("run", number, part)
            gr.Button(f"Part {number}").click(lambda value=value: value, None, visualizer)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    yield url
    demo.close()


def test_a_live_run_can_be_held_and_caught_up_with(page, live_page, traces, tmp_path):
    last = len(traces["duodecoding"]["iterations"]) - 1
    page.goto(live_page)
    where, follow = page.locator(".dv-where"), page.get_by_role("button", name="Follow live")

    def part(number):
        page.get_by_role("button", name=f"Part {number}").click()
        page.locator(".dv-message").click()

    part(0)
    expect(where).to_have_text("Following the run: iteration 9.", timeout=20_000)
    page.keyboard.press(" ")
    expect(where).to_have_text("You are at iteration 9; the run is at 9.")
    page.keyboard.press("ArrowLeft")
    part(1)
    expect(where).to_have_text("You are at iteration 8; the run is at 15.", timeout=20_000)
    page.locator(".dv-slider").fill("3")
    expect(where).to_have_text("You are at iteration 3; the run is at 15.")
    load(page, saved_to(tmp_path, traces["vanilla"]))
    expect(page.locator(".dv-files-message")).to_contain_text("A run is going on")
    held = json.loads(download(page, "Save trace", tmp_path).read_text())
    assert (len(held["iterations"]), held["end"]) == (16, None)
    page.locator(".dv-files-message").click()
    for back in ("l", "End"):
        page.keyboard.press("Home")
        expect(where).to_have_text("You are at iteration 0; the run is at 15.")
        page.keyboard.press(back)
        expect(where).to_have_text("Following the run: iteration 15.")
    page.keyboard.press("Home")
    # What stood there before "Home" is what comes after it: see the change first.
    expect(where).to_have_text("You are at iteration 0; the run is at 15.")
    page.keyboard.press(" ")
    expect(where).to_have_text("Following the run: iteration 15.", timeout=20_000)
    follow.click()
    expect(follow).to_have_attribute("aria-pressed", "false")
    expect(where).to_have_text("You are at iteration 15; the run is at 15.")
    follow.click()
    part(2)
    expect(where).to_have_text(f"You are at iteration {last}; the last is {last}.", timeout=20_000)
    expect(follow).to_be_hidden()
    assert not page.errors


def saved_to(folder, content, name="run.duoviz.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def load(page, path):
    page.locator(".dv input[type=file]").set_input_files(path)


def download(page, button, folder):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def view_of(page):
    numbers = page.locator("[data-number]").all_inner_texts()
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
    expect(page.locator(".dv")).to_have_attribute("data-state", "empty", timeout=20_000)
    for method, trace in traces.items():
        page.evaluate(DROP, [f"{method}.duoviz.json", json.dumps(trace)])
        expect(page.locator(".dv-files-message")).to_have_text(f"Shown: the file {method}.duoviz.json.")
        expect(page.locator(".dv")).to_have_attribute("data-state", "done")
        expect(page.locator(".dv")).to_have_attribute("data-iterations", str(len(trace["iterations"])))
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


def test_timeline_and_pictures_are_saved(page, methods_page, traces, tmp_path):
    show(page, methods_page, "duodecoding")
    check_chrome_trace(json.loads(download(page, "Timeline for Perfetto", tmp_path).read_text()), traces["duodecoding"])
    for part, marks in (("Tree", "dv-node"), ("Timeline", "dv-bar")):
        drawing = ElementTree.parse(download(page, f"{part} as SVG", tmp_path)).getroot()
        marked = [each for each in drawing.iter() if marks in each.get("class", "").split()]
        assert len(marked) == page.locator(f".{marks}").count()
        assert all("fill:" in each.get("style", "") for each in marked)
        assert not {"http:", "https:"} & {each.get("href", "")[:6] for each in drawing.iter()}
        png = download(page, f"{part} as PNG", tmp_path).read_bytes()
        assert png.startswith(b"\x89PNG")
        width = int.from_bytes(png[16:20], "big")
        assert width == 2 * float(drawing.get("width"))
    assert not page.errors


def changed(trace, path, value):
    """The trace as JSON, with one field set."""
    copy = json.loads(json.dumps(trace))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(copy)


WRONG_FIELDS = [
    (("header", "method"), "constructor"),
    (("header", "target"), None),
    (("header", "prompt"), ["x"]),
    (("iterations", 1, "target", "start"), "now"),
    (("iterations", 1, "sync"), -1),
    (("iterations", 1, "sequences"), 1e9),
    (("iterations", 1, "candidates"), {}),
    (("iterations", 1, "drafted", 0, "parent"), 5),
    (("iterations", 1, "drafted", 0, "text"), {"toString": 1}),
    (("iterations", 1, "drafted", 0, "status"), "<b>"),
    (("iterations", 1, "verdict"), None),
    (("iterations", 1, "committed", 0, "text"), "x" * 30_000),
    (("iterations", 2), None),
    (("end",), "eos"),
]


def test_a_bad_file_gives_a_sentence_and_changes_nothing(page, methods_page, traces, tmp_path):
    trace = traces["duodecoding"]
    show(page, methods_page, "vanilla")
    shown, message = page.locator(".dv-token").all_inner_texts(), page.locator(".dv-files-message")
    cases = [(changed(trace, path, value), ".".join(map(str, path[:1]))) for path, value in WRONG_FIELDS]
    cases += [("", "no JSON object"), ("[1]", "no JSON object"), ("{" * 50, "no JSON object"), ("{}", '"header"')]
    cases += [
        (changed(trace, ("header", "schema"), 2), "This trace has schema 2, and this page reads schema 1 at most")
    ]
    cases += [(changed(trace, ("iterations",), []), "no iterations")]
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


PLAIN_PAGE = """<!doctype html><div id="root"></div><script type="module">
import { mount } from "./mount.js";
mount(document.getElementById("root"), { subscribe(callback) { window.send = callback; } });
</script>"""


def test_the_modules_work_without_gradio(page, traces):
    def answer(route):
        name = route.request.url.rsplit("/", 1)[-1]
        if name.endswith(".js"):
            route.fulfill(path=FOLDER / name, content_type="text/javascript")
        else:
            route.fulfill(body=PLAIN_PAGE, content_type="text/html; charset=utf-8")

    page.route("http://plain.test/**", answer)
    page.goto("http://plain.test/")
    expect(page.locator(".dv")).to_have_attribute("data-state", "empty")
    page.evaluate("events => events.forEach(window.send)", events_of(traces["speculative"]))
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    expect(page.locator(".dv")).to_have_attribute("data-iterations", str(len(traces["speculative"]["iterations"])))
    assert not page.errors
