"""Links: where they lead, what they start, and which keys a limit in one takes."""

from tests.node import evaluate

COPY = """async ([values, site]) => {
  globalThis.location = { origin: "https://someone-duoviz.hf.space", pathname: "/" };
  const [body, documentElement] = [{ classList: { contains: () => false } }, { hasAttribute: () => false }];
  globalThis.document = { querySelector: () => null, body, documentElement };
  const { copyLink } = await import("./share/page.js");
  return JSON.parse(await copyLink(values, site)).link;
}"""


def test_on_a_space_links_lead_to_its_page_on_the_hub(told):
    values = [field["default"] for page in told["pages"].values() for field in page["fields"].values()]
    link = evaluate(COPY, [values, told | {"address": "https://huggingface.co/spaces/someone/duoviz"}])
    assert link.startswith("https://huggingface.co/spaces/someone/duoviz#tab=live&prompt=")


# What a link that is followed has the page say and start, where a run goes on or none does.
FOLLOW = """async ([fragments, isRunning, site]) => {
  globalThis.document = { querySelector: (part) => (isRunning && part.includes("data-state=running") ? {} : null) };
  globalThis.location = { search: "" };
  const { openLink } = await import("./share/page.js");
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
