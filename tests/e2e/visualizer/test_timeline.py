"""The timeline's figures for what is in view, counted here from the trace."""

import json

import pytest
from playwright.sync_api import expect

from duoviz.trace.metrics import metrics
from tests.e2e.visualizer.shown import load, saved_to, show

# What is said, between which two times; where these two and each bar's own stand, in pixels.
READ_TIMELINE = """() => {
  const number = (node, name) => Number(node.getAttribute(name));
  const shares = document.querySelector(".dv-shares");
  const idle = document.querySelector("rect.dv-idle");
  const bars = Array.from(document.querySelectorAll("rect.dv-bar"), (bar) => ({
    start: Number(bar.dataset.start), x: number(bar, "x"), width: number(bar, "width")}));
  return {
    from: Number(shares.dataset.from), to: Number(shares.dataset.to),
    left: number(idle, "x"), right: number(idle, "x") + number(idle, "width"), bars,
    said: Object.fromEntries(Array.from(shares.querySelectorAll("[data-share]:not([hidden] *)"),
      (share) => [share.dataset.share, share.textContent])),
  };
}"""


def side_by_side(trace):
    """The run with each iteration's draft steps moved to where its target forward begins: a tiny draft runs inline.

    The draft reads the prompt during the first three, and its result comes with the fourth.
    """
    moved = json.loads(json.dumps(trace))
    for each in moved["iterations"]:
        shift = each["draft"][0]["start"] - each["target"]["start"] if each["draft"] else 0
        for step in each["draft"]:
            step["start"], step["end"] = step["start"] - shift, step["end"] - shift
    first, *others, late = moved["iterations"][:4]
    for each in (first, *others):
        each["draft"] = []
    reading = {"start": first["target"]["start"], "end": late["target"]["start"], "tokens": 11}
    late["draft"].insert(0, reading)
    moved["header"]["can_overlap"] = True
    return moved


def within(spans, start, end):
    return [(max(a, start), min(b, end)) for a, b in spans if b > start and a < end]


def expected_shares(trace, start, end):
    """Percent of the time between two times, by every bar of both lanes."""
    target = within([(each["target"]["start"], each["target"]["end"]) for each in trace["iterations"]], start, end)
    draft = within([(step["start"], step["end"]) for each in trace["iterations"] for step in each["draft"]], start, end)
    both = sum(max(0, min(b, d) - max(a, c)) for a, b in target for c, d in draft)
    idle = {"target": target} | ({"draft": draft} if trace["header"]["draft"] else {})
    shares = {name: 1 - sum(b - a for a, b in spans) / (end - start) for name, spans in idle.items()}
    return {
        name: 100 * share for name, share in (shares | ({"overlap": both / (end - start)} if draft else {})).items()
    }


def check_timeline(page, trace):
    """Check what is said of the part in view, and that it is the part in view; its two times."""
    shown = page.evaluate(READ_TIMELINE)
    expected = expected_shares(trace, shown["from"], shown["to"])
    said = {name: float(value.removesuffix(" %")) for name, value in shown["said"].items()}
    assert said == pytest.approx(expected, abs=0.51)
    pixels = (shown["right"] - shown["left"]) / (shown["to"] - shown["from"])
    inside = [bar for bar in shown["bars"] if bar["x"] > shown["left"] + 1]
    assert len(inside) > 1
    for bar in inside:
        assert bar["x"] == pytest.approx(shown["left"] + pixels * (bar["start"] - shown["from"]), abs=1)
    return shown["from"], shown["to"]


def test_overlap_and_idle_follow_zoom_and_pan(page, methods_page, traces, tmp_path):
    trace = side_by_side(traces["duodecoding"])
    show(page, methods_page, "vanilla")
    load(page, saved_to(tmp_path, trace))
    expect(page.locator(".dv")).to_have_attribute("data-method", "duodecoding")
    expect(page.locator(".dv-timeline [data-share=overlap]")).to_be_visible()
    page.locator(".dv-timeline-drawing").focus()
    seen = []
    overlap = f"{100 * metrics(trace)['overlap']:.0f} %"
    expect(page.locator("[data-number=overlap]")).to_have_text(overlap)
    for act in ("", "w", "w", "a", "a", "w", "Whole run", "w", "wwwww" + 40 * "a", "d", "12 iterations"):
        if set(act) <= set("wasd"):
            page.keyboard.type(act)
        else:
            page.get_by_role("button", name=act).click()
            page.locator(".dv-timeline-drawing").focus()
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen.append(check_timeline(page, trace))
    assert len(set(seen)) > 8 and seen[0] == seen[-1]
    assert seen[6] == (0, trace["iterations"][-1]["sync"])
    assert not page.errors


@pytest.mark.parametrize(
    "method, lanes", [("rest", ["target"]), ("speculative", ["overlap", "target", "draft"]), ("duodecoding", None)]
)
def test_only_what_a_method_has_is_said(page, methods_page, traces, method, lanes):
    show(page, methods_page, method)
    assert list(page.evaluate(READ_TIMELINE)["said"]) == (lanes or ["target", "draft"])
    if lanes:
        check_timeline(page, traces[method])
    else:
        # On one core, as here, the two lanes take turns whatever their bars show.
        assert not traces[method]["header"]["can_overlap"]
