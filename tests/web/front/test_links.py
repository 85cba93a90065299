"""Links and settings files: what comes back of views, what becomes of links that are damaged, and where they lead."""

import random
import re

from tests.node import evaluate

PIECES = ["plain words", "&a=b#c", "100% + é", "line\nbreak", "\t", "日本語", "🦙", "</script>", "%zz", "?q", " "]


def random_text(chance):
    return "".join(chance.choices(PIECES, k=chance.randrange(6)))


def random_value(chance, field):
    if field["kind"] == "choice":
        return chance.choice(field["choices"])
    if field["kind"] == "flag":
        return chance.random() < 0.5
    if field["kind"] == "number":
        return chance.choice([None, 0, 7, -3, 2**40, 0.1, 1e-9, 1.5e300, round(chance.random(), 6)])
    return random_text(chance)


def random_view(chance, pages):
    """A view of a tab, and how a link lets the page look."""
    tab = chance.choice(list(pages))
    page = pages[tab]
    fields = {name: random_value(chance, field) for name, field in page["fields"].items()}
    own = {"iteration": chance.randrange(1000), "recording": chance.randrange(1000)} if page["visualizer"] else {}
    own |= {"autoplay": True} if page["start"] else {}
    look = {"theme": chance.choice(["light", "dark"]), "present": chance.random() < 0.5, "controls": ["step", "pages"]}
    own, look = ({name: of[name] for name in of if chance.random() < 0.4} for of in (own, look))
    return {"tab": tab, "fields": fields} | own, look


def random_views(pages):
    chance = random.Random(5)
    return [random_view(chance, pages) for _ in range(200)]


ROUND_TRIP = """async ([views, pages]) => {
  const link = await import("http://plain.test/share/link.js");
  return Promise.all(views.map(async ([view, look]) => {
    const fragment = link.fragmentOf({ ...view, ...look }, pages);
    const file = await link.viewOfFile(link.fileOf(view), pages);
    return { fragment, of: link.viewOfFragment(fragment, pages), file };
  }));
}"""


def test_200_random_views_come_back_from_links_and_files(pages):
    views = random_views(pages)
    for (view, look), found in zip(views, evaluate(ROUND_TRIP, [views, pages]), strict=True):
        assert found["of"] == {"view": view, "look": look, "problem": ""}
        assert found["file"] == {"view": {name: value for name, value in view.items() if name != "autoplay"}}
        assert re.fullmatch(r"#[\w.~!*'()=&%+-]+", found["fragment"])


NOISE = ["%", "&", "=", "#", "+", "<", "é", "\0", "%E0%A4", "tab="]


def mutated(chance, text):
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text) + 1)
        cut = at + chance.randrange(1, 12)
        changes = (
            text[:at] + text[cut:],
            text[:at] + chance.choice(NOISE) + text[at:],
            text[: at + 1],
            text[:cut] + text[at:],
            text[:at] + chance.choice("0123456789abcxyz%") + text[at + 1 :],
        )
        text = chance.choice(changes)
    return text


READ = """async ([fragments, pages]) => {
  const link = await import("http://plain.test/share/link.js");
  return Promise.all(fragments.map(async (fragment) => {
    const found = link.viewOfFragment(fragment, pages);
    const again = found.view && link.viewOfFragment(link.fragmentOf({ ...found.view, ...found.look }, pages), pages);
    return { found, again, file: await link.viewOfFile(fragment, pages) };
  }));
}"""


def test_what_a_link_says_wrongly_is_ignored_and_told_in_one_sentence(pages):
    chance = random.Random(6)
    fragments = [made["fragment"] for made in evaluate(ROUND_TRIP, [random_views(pages), pages])]
    results = evaluate(READ, [[mutated(chance, each) for each in fragments], pages])
    for result in results:
        found = result["found"]
        if found["view"]:
            assert result["again"] == found | {"problem": ""}
            assert found["view"]["fields"].keys() == pages[found["view"]["tab"]]["fields"].keys()
        if found["problem"]:
            assert re.fullmatch(r"Ignored in this link: .{3,250}\.", found["problem"])
        assert "not a duoviz settings file" in result["file"]["problem"]
    assert sum(bool(result["found"]["problem"]) for result in results) > 40


COPY = """async ([values, site]) => {
  globalThis.location = { origin: "https://someone-duoviz.hf.space", pathname: "/" };
  const [body, documentElement] = [{ classList: { contains: () => false } }, { hasAttribute: () => false }];
  globalThis.document = { querySelector: () => null, body, documentElement };
  const { copyLink } = await import("http://plain.test/share/page.js");
  return JSON.parse(await copyLink(values, site)).link;
}"""


def test_on_a_space_links_lead_to_its_page_on_the_hub(told):
    values = [field["default"] for page in told["pages"].values() for field in page["fields"].values()]
    link = evaluate(COPY, [values, told | {"address": "https://huggingface.co/spaces/someone/duoviz"}])
    assert link.startswith("https://huggingface.co/spaces/someone/duoviz#tab=live&prompt=")


# Of each key, pressed where `inside` says, whether a limit has taken it; on the page are the tab's widgets alone.
PRESS = """async (presses) => {
  [globalThis.document, globalThis.Element] = [new EventTarget(), Object];
  const head = { setAttribute() {}, append() {} };
  Object.assign(document, { getElementById: () => null, createElement: () => head, head });
  const { limitControls, limitKeys } = await import("http://plain.test/share/limits.js");
  limitControls("live", ["play"]);
  limitKeys(() => "live");
  return presses.map(([inside, key, held]) => {
    const event = Object.assign(new Event("keydown", { cancelable: true }), { key, [held]: true });
    const closest = (places) => (inside && places.split(", ").includes(inside) ? {} : null);
    Object.defineProperty(event, "target", { value: { closest } });
    document.dispatchEvent(event);
    return event.defaultPrevented;
  });
}"""


def test_a_limit_takes_no_key_of_the_browsers_or_of_another_widget():
    free = [("", "+", "ctrlKey"), ("", "a", "metaKey"), ("", "ArrowLeft", "altKey"), ("", " ", ""), ("", "s", "")]
    free += [(place, "ArrowRight", "") for place in ("[role=tab]", "[role=slider]", "input")]
    limited = [("", "+", ""), (".dv-timeline", "A", "shiftKey"), ("", "ArrowLeft", "")]
    assert evaluate(PRESS, free + limited) == [False] * len(free) + [True] * len(limited)


# What a link that is followed has the page say and start, where a run goes on or none does.
FOLLOW = """async ([fragments, isRunning, site]) => {
  globalThis.document = { querySelector: (part) => (isRunning && part.includes("data-state=running") ? {} : null) };
  globalThis.location = { search: "" };
  const { openLink } = await import("http://plain.test/share/page.js");
  return fragments.map((hash) => {
    location.hash = hash;
    const { message, start } = JSON.parse(openLink(site)[1]);
    return [message, start];
  });
}"""
SET = "Prompt and settings loaded. Press Generate to run."
REACHING = [
    "#pair=them/big+%2B+them/small",
    "#pair=qwen2.5-7b",
    "#method=rest&rest_datastore=/etc",
    "#tab=compare&second_method=rest&second_rest_datastore=mine",
]


def test_a_link_starts_its_run_but_for_one_that_reaches_for_the_hub_or_a_folder_or_is_in_the_way(told):
    links = [f"{reaching}&prompt=Mine&autoplay=1" for reaching in REACHING]
    look = "It names other models or another datastore: check the settings first."
    words = [SET.replace("Generate", "Race") if "tab=compare" in link else SET for link in links]
    assert evaluate(FOLLOW, [links, False, told]) == [[f"{each} {look}", None] for each in words]
    links = ["#prompt=Mine&method=vanilla&autoplay=1", "#tab=compare&prompt=Mine&autoplay=1"]
    assert evaluate(FOLLOW, [links, False, told]) == [["", "generate"], ["", "race"]]
    assert evaluate(FOLLOW, [links, True, told]) == [["A run is in progress: start this one when it ends.", None]] * 2
    # One to the page as it opens has set nothing.
    held = "Iteration 4 will be shown when the run reaches it."
    said = {"#tab=compare": "", "#tab=compare&seed=9": SET.replace("Generate", "Race"), "#iteration=4": held}
    assert evaluate(FOLLOW, [list(said), False, told]) == [[each, None] for each in said.values()]
