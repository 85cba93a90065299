"""What is drawn is the trace, whoever wrote its texts."""

import itertools
import re
from xml.etree import ElementTree

import gradio as gr
import pytest
from playwright.sync_api import expect

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.web.visualizer import Visualizer, batch
from tests.benchmarks.visualizer.traces import events_of, longer
from tests.e2e.pages import open_modules, page_in
from tests.e2e.tiny_site import served
from tests.e2e.visualizer.conftest import VISUALIZER_ALONE
from tests.e2e.visualizer.shown import READ_ITERATIONS, download, load, saved_to, send, show
from tests.tiny import tiny_engine

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


def hostile_events():
    """A real run of a tiny pair, with each text replaced by a hostile one."""
    trace = runner.collect(runner.stream(tiny_engine(noise=0.3), "duodecoding", "hello", Settings(max_new_tokens=40)))
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
    with served(demo) as url:
        yield url, trace


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_texts_show_as_text(page, hostile_page, tmp_path, width):
    url, trace = hostile_page
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(url)
    page.get_by_role("button", name="Feed").click()
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
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


CHARTS = dict.fromkeys(METHODS, ["tokens written"]) | {
    "speculative": ["tokens written", "γ draft budget"],
    "duodecoding": ["tokens written", "k sequences", "γ draft budget", "θ threshold"],
}
EVERY_RUNS = ["tps", "tau", "ttft", "written", "took"]
DUO = ["k", "gamma", "longest", "theta"]


SOURCE_OF = {
    "speculative": ["draft"],
    "duodecoding": ["draft"],
    "prompt_lookup": ["prompt"],
    "rest": ["datastore"],
    "lookahead": ["lookahead"],
    "duotree": ["draft", "prompt"],
}


def likelihood(node, nodes):
    """What an edge's thickness stands for."""
    if node.get("chance") is not None:
        return node["chance"]
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
    shown = titles.evaluate_all("titles => titles.map(t => t.firstChild.textContent)")
    assert shown == CHARTS[method] + (["Iterations by k"] if "k sequences" in CHARTS[method] else [])
    numbers = page.locator("[data-number]:visible").evaluate_all("all => all.map(each => each.dataset.number)")
    own = {"vanilla": [], "speculative": ["acceptance", "gamma"], "duodecoding": ["acceptance", "overlap", *DUO]}
    # φ stands there where vanilla has run before.
    assert sorted({*numbers} - {"phi"}) == sorted([*EVERY_RUNS, *own.get(method, ["acceptance"])])
    lanes = page.locator("text.dv-lane-label").evaluate_all("labels => labels.map(label => label.dataset.lane)")
    assert lanes == (["target", "draft"] if METHODS[method].draft else ["target"])
    # What is still to come is drawn paler below the lanes' names.
    assert page.locator(".dv-future ~ g .dv-lane-label").count() == len(lanes)
    # Without a threshold, no candidate is over it.
    assert bool(page.locator('.dv-candidate[data-over="true"]').count()) <= (method == "duodecoding")
    labels = page.locator(".dv-candidate-label").all_text_contents()
    over = page.locator(".dv-candidate").evaluate_all("rows => rows.map(row => row.dataset.over === 'true')")
    # ○ is what a token of the tree is that was not checked yet.
    assert [label[0] for label in labels] == ["●" if each else " " for each in over]
    sources = page.locator(".dv-legend .dv-sample").evaluate_all("marks => marks.map(mark => mark.dataset.source)")
    assert sources == [*SOURCE_OF.get(method, []), "target"]


def check_nodes(drawn, iteration):
    expected = {(name, i): node for name in ("checked", "drafted") for i, node in enumerate(iteration[name])}
    shown = {(node["list"], int(node["index"])): node for node in drawn["nodes"]}
    # Of what a living tree has beyond that, all that lives on, and some of the rest.
    rest = {("rest", i): node for i, node in enumerate(iteration.get("rest", []))}
    lives = {key for key, node in rest.items() if node["status"] == "pending"}
    assert expected.keys() | lives <= shown.keys() <= expected.keys() | rest.keys()
    assert len(shown.keys() - expected.keys() - lives) <= 8
    expected |= rest
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


def check_threshold(told, method, iteration):
    """The line beside the first tokens says how k came about, or why there is no θ."""
    if method != "duodecoding" or not iteration["candidates"]:
        return
    over = sum(each["over"] for each in iteration["candidates"])
    if iteration["theta"] is None:
        assert over == 0 and told.startswith("No threshold here: θ takes a second draft step")
    elif over == 0:
        assert told.startswith("none over the threshold: the most probable starts one all the same; k = 1 sequence")
    else:
        arrow = " →" if over == iteration["sequences"] else ";"
        many = f"at least {over}" if over == len(iteration["candidates"]) else over
        assert told == f"{many} over the threshold ●{arrow} k = {counted(iteration['sequences'], 'sequence')}"


def check_start(drawn):
    """The tree's left end, where the verified text stands, is in sight where what was drafted is too."""
    for caption in drawn["captions"]:
        if caption["text"] == "drafted meanwhile" and caption["x"] < 0.7 * drawn["tree"]["clientWidth"]:
            assert drawn["tree"]["scrollLeft"] == 0


def found_end(matched):
    """How the sentence begins that says what was found elsewhere."""
    if matched is None:
        return "The end of the text"
    text = matched["text"] if len(matched["text"]) <= 48 else matched["text"][:47] + "…"
    return f'The last {"token" if matched["tokens"] == 1 else counted(matched["tokens"], "token")}, "{text}",'


def check_sentence(told, method, iteration, written):
    """The counts in the sentence, counted here from the trace."""
    proposed = [node for node in iteration["checked"] if node["status"] not in ("correction", "window")]
    leaves = sum(all(node["parent"] != index for node in proposed) for index in range(len(proposed)))
    full = "There was room for one token only" if written == 31 else None
    if method == "duodecoding":
        readers = "Both models" if iteration["drafted"] else "The target"
        assert told.startswith(f"{readers} read the prompt (11 tokens)") == (iteration["mode"] == "prefill")
        roots = [node for node in iteration["drafted"] if node["parent"] == -1 and node["status"] != "correction"]
        if iteration["mode"] != "prefill" and iteration["verdict"]["outcome"] in ("hit", "miss") and roots:
            assert f"{counted(len(roots), 'sequence')} started" in told
            assert f'{roots[0]["q"]:.2f} for "{roots[0]["text"]}"' in told
        return
    if method == "vanilla" or not iteration["index"]:
        assert not proposed and "computed one token" in told
    elif not proposed:
        assert (full or NOTHING_PROPOSED[method]) in told
    else:
        found = found_end(iteration["matched"])
        guesses = "1 guess kept from before was" if leaves == 1 else f"{leaves} guesses kept from before were"
        followed = f"the {len(proposed)} tokens that followed" if len(proposed) > 1 else "one token followed"
        start = {
            "speculative": f"The draft proposed {counted(len(proposed), 'token')} ({proposed[0]['q'] or 0:.2f} for",
            "prompt_lookup": f"{found} stood earlier in the text; {'of ' * (len(proposed) > 1)}{followed}",
            "rest": f"{found} stood in the datastore, followed by {counted(len(proposed), 'token')} "
            f"in {counted(leaves, 'branch', 'branches')};",
            "lookahead": f"{guesses} checked;",
            "duotree": f"The tree had {counted(len(proposed), 'token')} worth checking, in "
            f"{counted(leaves, 'branch', 'branches')};",
        }
        assert start[method] in told
        accepted = sum(node["status"] == "accepted" for node in proposed)
        # Of a whole branch too the number is told.
        assert (f"agreed with {accepted}" in told) == (0 < accepted < len(proposed) + (method == "lookahead"))
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
    "lookahead": "No guess kept from before begins with the last token, so the target wrote one token",
    "duotree": "Nothing was worth checking, so the target wrote one token",
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
        check_start(drawn)
        check_threshold(drawn["threshold"], method, iteration)
        check_sentence(drawn["sentence"], method, iteration, written)
        written += len(iteration["committed"])
    assert not page.errors


def test_a_number_of_sequences_that_was_set_is_told(plain_page, traces):
    trace = traces["duodecoding"]
    header = trace["header"] | {"settings": trace["header"]["settings"] | {"sequences": 2}}
    send(plain_page, events_of(trace | {"header": header}))
    expect(plain_page.locator(".dv")).to_have_attribute("data-state", "done")
    told = [drawn["threshold"] for drawn in plain_page.evaluate(READ_ITERATIONS)]
    assert any(text.endswith(", as set") and "→" not in text for text in told)


def test_the_runs_have_what_is_tested(traces):
    """Trees of a datastore with branches, guesses and windows, proposals accepted and rejected."""
    nodes = {method: [node for each in run["iterations"] for node in each["checked"]] for method, run in traces.items()}
    for method in ("speculative", "prompt_lookup", "rest", "lookahead"):
        assert {"accepted", "rejected"} <= {node["status"] for node in nodes[method]}, method
    assert "window" in {node["status"] for node in nodes["lookahead"]}
    assert max(len(each["checked"]) for each in traces["rest"]["iterations"]) > 60


LATER = """(shown) => {
  const box = document.querySelector(".dv-text-box").getBoundingClientRect();
  const isInSight = ({ top, bottom }) => bottom >= box.top && top <= box.bottom;
  const groups = Array.from(document.querySelectorAll(".dv-group"));
  const inSight = groups.filter((group) => isInSight(group.getBoundingClientRect()));
  const isRight = (group) => group.classList.contains("dv-later") === (Number(group.dataset.group) > shown);
  return groups.length > 1000 && inSight.length > 10 && inSight.every(isRight);
}"""


def test_what_comes_later_is_marked_after_any_jump(plain_page, traces):
    trace = longer(traces["vanilla"], 1200)
    send(plain_page, events_of(trace))
    root, slider, box = plain_page.locator(".dv"), plain_page.locator(".dv-slider"), plain_page.locator(".dv-text-box")
    expect(root).to_have_attribute("data-state", "done")
    for jumps in (["1199"], ["0"], ["700"], ["100", "900", "400"], ["1199", "3"]):
        for place in jumps:
            slider.fill(place)
        expect(root).to_have_attribute("data-shown", jumps[-1])
        for part in (None, 0, 1, 0.3):
            if part is not None:
                box.evaluate("(box, part) => { box.scrollTop = part * box.scrollHeight; }", part)
            plain_page.wait_for_function(LATER, arg=int(jumps[-1]))
        for width in (1900, 500, 1280):
            plain_page.set_viewport_size({"width": width, "height": 1000})
            plain_page.wait_for_function(LATER, arg=int(jumps[-1]))


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


# How many lines the tree is on, how large its letters are, and whether all of it is in its box.
READ_TREE = """() => {
  const box = document.querySelector(".dv-tree-box"), drawing = box.querySelector("svg");
  const parts = [...drawing.querySelectorAll("g, path, text.dv-caption")].filter((part) => !part.closest("g g"));
  const isInside = (part) => {
    const [outer, inner] = [drawing, part].map((each) => each.getBoundingClientRect());
    const isWithin = inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
    return isWithin && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  };
  return {
    lines: new Set([...drawing.querySelectorAll("g")].map((node) => node.getBoundingClientRect().top)).size,
    size: 12 * drawing.getScreenCTM().a, outside: parts.filter((part) => !isInside(part)).length,
    scrolls: box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight,
  };
}"""


def test_a_tree_that_is_longer_than_its_box_goes_on_in_further_lines(page, methods_page, tmp_path):
    settings = Settings(max_new_tokens=40, budget=16)
    trace = runner.collect(runner.stream(tiny_engine(noise=0.0), "speculative", "hello", settings))
    longest = max(range(1, len(trace["iterations"])), key=lambda index: len(trace["iterations"][index]["checked"]))
    assert len(trace["iterations"][longest]["checked"]) == 17
    show(page, methods_page, "speculative")
    load(page, saved_to(tmp_path, trace))
    expect(page.locator(".dv-slider")).to_have_attribute("max", str(len(trace["iterations"]) - 1))
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    page.locator(".dv-slider").fill(str(longest))
    expect(page.locator("g.dv-node")).to_have_count(17)
    for width, lines in ((1280, 2), (390, 4)):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"lines => ({READ_TREE})().lines >= lines", arg=lines)
        read = page.evaluate(READ_TREE)
        assert not read["outside"] and not read["scrolls"] and read["size"] > 10
    height = page.locator(".dv-tree-box").bounding_box()["height"]
    # A short one stays on its line, and is as large as its box allows; what stands below it stays there.
    page.locator(".dv-slider").fill("0")
    page.wait_for_function(f"({READ_TREE})().lines === 1 && ({READ_TREE})().size > 14")
    assert page.locator(".dv-tree-box").bounding_box()["height"] == height > 150


def test_a_value_that_stands_alone_is_a_point(plain_page, traces):
    trace = traces["duodecoding"]
    iterations = [each | {"theta": 0.5 if each["index"] == 3 else None} for each in trace["iterations"]]
    send(plain_page, events_of(trace | {"iterations": iterations}))
    expect(plain_page.locator(".dv-line[data-chart=theta]")).to_have_attribute("d", re.compile(r"^M[\d.]+ [\d.]+h0$"))


def test_how_many_tokens_a_tree_does_not_show_is_told(plain_page, traces):
    trace = traces["duodecoding"]
    crowd = [trace["iterations"][1]["drafted"][0] | {"parent": -1, "status": "discarded"}] * 320
    trace = trace | {"iterations": [trace["iterations"][0], trace["iterations"][1] | {"drafted": crowd}]}
    send(plain_page, events_of(trace))
    expect(plain_page.locator(".dv")).to_have_attribute("data-state", "done")
    plain_page.locator(".dv-slider").fill("1")
    drawn = plain_page.locator("g.dv-node:is([data-list=checked], [data-list=drafted])")
    expect(drawn.first).to_be_attached()
    left = len(trace["iterations"][1]["checked"]) + 320 - drawn.count()
    note = plain_page.locator(".dv-tree-side .dv-note:not(.dv-facts)")
    expect(note).to_have_text(f"{left} more tokens are not drawn.")
    assert left > 0


def test_a_touch_screen_is_told_to_tap(new_context, traces):
    context = new_context(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    page = open_modules(page_in(context))
    page.evaluate(VISUALIZER_ALONE)
    send(page, events_of(traces["duodecoding"]))
    expect(page.locator(".dv-facts")).to_have_text("Tap a token to see how probable it was.")
    context.close()


TOLD = """async (iterations) => {
  const { sentence } = await import("http://plain.test/visualizer/sentence.js");
  const about = { header: { method: "duodecoding", settings: {} }, before: 0, end: null, last: true };
  return iterations.map((iteration) => sentence(iteration, about));
}"""


def test_where_an_answer_ends_before_all_that_was_accepted_it_is_said(modules):
    tokens = [{"text": text, "parent": -1, "status": "accepted", "source": "draft", "q": 0.9} for text in "abc"]
    last = {
        "index": 1, "mode": "post", "theta": None, "candidates": [], "checked": tokens[:2], "drafted": tokens[2:],
        "verdict": {"outcome": "hit", "tested": 3, "accepted": 3, "sequence": 1},
    }  # fmt: skip
    whole, one, two = modules.evaluate(TOLD, [last | {"committed": tokens[:count]} for count in (3, 2, 1)])
    assert "ends" not in whole
    assert one == whole + " The answer ends before the last of these tokens."
    assert two == whole + " The answer ends before the last 2 of these tokens."
