"""The small pictures inside a lesson, as data from the recorded traces; `learn/` draws them."""

from duoviz.decoding import METHODS
from duoviz.trace.metrics import iteration_seconds
from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.text import Mistake
from duoviz.web.results_store import averages, in_words

# The target is unsure where no token has a greater p, and a token is unlikely where p and q are both smaller.
UNSURE = 0.6
UNLIKELY = 0.015
# More tokens than this would not fit beside the text.
MOST_LISTED = 8


def target_costs(facts: Facts) -> dict:
    """T_target(n): [[count, seconds], …], and its device. Reading: n."""
    return {"target": facts.calibration("target"), "target_device": facts.trace["header"]["target"]["device"]}


def costs(facts: Facts) -> dict:
    """T_target(n) and T_draft(k). Reading: n."""
    times = target_costs(facts) | {"draft": facts.calibration("draft")}
    return times | {"draft_device": facts.trace["header"]["draft"]["device"]}


def budget(facts: Facts) -> dict:
    """One target forward and the draft steps beside it, in seconds. Reading: the number of steps, γ."""
    return {
        "target": facts.cost("target", 1),
        "step": facts.cost("draft", 1),
        "most": max(4, 2 * facts.steps_that_fit(1)),
    }


def threshold(facts: Facts) -> dict:
    """The draft's first tokens and θ of the iteration shown. Reading: k."""
    iteration = facts.iteration
    if not iteration or iteration["theta"] is None:
        raise Mistake('the figure "threshold" needs an "at" with a threshold')
    candidates = [{"text": candidate["text"], "p": candidate["p"]} for candidate in iteration["candidates"]]
    return {"candidates": candidates, "theta": iteration["theta"], "budget": iteration["budget"]}


def cache(facts: Facts) -> dict:
    """Of how many tokens the target's cache held keys and values before the forward pass shown, the last token of the
    text, which it did not hold, the tokens that were checked, and the target's own token."""
    iteration = facts.iteration
    if not iteration or not iteration["index"]:
        raise Mistake('the figure "cache" needs an "at" that is not the prefill')
    written = [token for each in facts.trace["iterations"][: iteration["index"]] for token in each["committed"]]
    cached = facts.trace["header"]["prompt_tokens"] + len(written) - 1
    checked = [node for node in iteration["checked"] if node["status"] != "correction"]
    own = iteration["committed"][-1] | {"status": "correction"}
    return {"cached": cached, "last": written[-1]["text"], "checked": checked, "own": own}


def draws(facts: Facts) -> dict:
    """Both models' probabilities p and q at one place of the text, and the end of what stands `before` it; `accepted`:
    Σ min(p, q), by what is shown of both.

    The place is the one of those where the target is unsure at which the draft knows most. The probabilities are those
    among the tokens listed: tokens that both find unlikely are left out.
    """
    unsure = [index for index, place in enumerate(facts.places) if max(token["p"] for token in listed(place)) <= UNSURE]
    at = max(unsure, key=lambda index: knowledge(listed(facts.places[index])), default=None)
    if at is None:
        raise Mistake("both models' probabilities are not recorded where the target is unsure")
    outcomes = listed(facts.places[at])
    # A greedy target wrote what it puts first.
    before = "".join(place[0]["text"] for place in facts.places[:at])
    accepted = sum(min(round(each["p"], 2), round(each["q"], 2)) for each in outcomes)
    return {"before": " ".join(before.split()[-6:]), "outcomes": outcomes, "accepted": accepted}


def listed(place: list[dict]) -> list[dict]:
    """The likely tokens, as they come in the place, with their probabilities among them."""
    known = sorted(place, key=lambda token: -max(token["p"], token["q"]))[:MOST_LISTED]
    likely = [token for token in place if token in known and max(token["p"], token["q"]) >= UNLIKELY]
    total = {name: sum(token[name] for token in likely) for name in ("p", "q")}
    return [token | {name: token[name] / total[name] for name in total} for token in likely]


def knowledge(tokens: list[dict]) -> float:
    """The overlap Σ min(p, q) on these tokens, minus that of a uniform draft."""
    equal = 1 / len(tokens)
    return sum(min(token["p"], token["q"]) - min(token["p"], equal) for token in tokens)


def speeds(facts: Facts) -> dict:
    """Tokens a second of the recorded runs, and why.

    rows: tokens in a target forward; iteration: seconds from one forward to the next; both are means without the
    forward that reads the prompt. lab: φ over the Lab's prompts, None where it was not measured.
    """
    runs = []
    for method in facts.speeds:
        found, trace = facts.metrics[method], facts.traces[method]
        rows = [iteration["target"]["rows"] for iteration in trace["iterations"][1:]]
        about = {"method": method, "title": METHODS[method].title, "device": trace["header"]["target"]["device"]}
        figures = {"rows": sum(rows) / max(1, len(rows)), "iteration": iteration_seconds(trace)}
        lab = averages().get(about["title"])
        runs.append(about | figures | {"tps": found["tps"], "tau": found["tau"], "lab": lab and in_words(lab)})
    return {"runs": runs}


FIGURES = {
    "costs": costs,
    "target costs": target_costs,
    "budget": budget,
    "threshold": threshold,
    "cache": cache,
    "coupled draws": draws,
    "classical rule": draws,
    "speeds": speeds,
}
