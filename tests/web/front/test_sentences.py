"""What is said of each iteration of real runs, by the counts of their traces."""

import json

import pytest

from duoviz.decoding import METHODS
from tests.node import evaluate
from tests.web.front.runs import TOKENS

# What is said of every iteration, of its first tokens, and in the middle of its time.
SAY = """async ({ header, iterations, end }) => {
  const modules = await Promise.all(["sentence", "candidates", "meanwhile"].map((name) => (
    import(`http://plain.test/visualizer/${name}.js`))));
  const { sentence, candidateWords, meanwhile } = Object.assign({}, ...modules);
  let before = 0;
  return iterations.map((iteration, index) => {
    const { target, candidates, committed } = iteration;
    const about = { header, before, end, last: index === iterations.length - 1 };
    before += committed.length;
    const during = meanwhile(iteration, header, (target.start + target.end) / 2);
    return [sentence(iteration, about), candidateWords(iteration, candidates, header), during];
  });
}"""

NOTHING_PROPOSED = {
    "prompt_lookup": "Nothing like the end of the text stood earlier, so the target wrote one token",
    "rest": "The datastore knew nothing like the end of the text, so the target wrote one token",
    "lookahead": "No guess kept from before begins with the last token, so the target wrote one token",
    "duotree": "Nothing was worth checking, so the target wrote one token",
}


def counted(number, word, plural=None):
    return f"{number} {word if number == 1 else plural or word + 's'}"


def found_end(matched):
    """How the sentence begins that says what was found elsewhere."""
    if matched is None:
        return "The end of the text"
    text = matched["text"] if len(matched["text"]) <= 48 else matched["text"][:47] + "…"
    return f'The last {"token" if matched["tokens"] == 1 else counted(matched["tokens"], "token")}, "{text}",'


def start_of(method, iteration, proposed, leaves):
    """How the sentence on proposals begins."""
    found, many = found_end(iteration["matched"]), counted(len(proposed), "token")
    branches = counted(leaves, "branch", "branches")
    guesses = "1 guess kept from before was" if leaves == 1 else f"{leaves} guesses kept from before were"
    followed = f"of the {len(proposed)} tokens that followed" if len(proposed) > 1 else "one token followed"
    return {
        "speculative": f"The draft proposed {many} ({proposed[0]['q'] or 0:.2f} for",
        "prompt_lookup": f"{found} stood earlier in the text; {followed}",
        "rest": f"{found} stood in the datastore, followed by {many} in {branches};",
        "lookahead": f"{guesses} checked;",
        "duotree": f"The tree had {many} worth checking, in {branches};",
    }[method]


def check_parallel(told, iteration):
    readers = "Both models" if iteration["drafted"] else "The target"
    assert told.startswith(f"{readers} read the prompt (11 tokens)") == (iteration["mode"] == "prefill")
    roots = [node for node in iteration["drafted"] if node["parent"] == -1 and node["status"] != "correction"]
    if iteration["mode"] != "prefill" and iteration["verdict"]["outcome"] in ("hit", "miss") and roots:
        assert f"{counted(len(roots), 'sequence')} started" in told
        assert f'{roots[0]["q"]:.2f} for "{roots[0]["text"]}"' in told


def check_in_turn(told, method, iteration, written):
    proposed = [node for node in iteration["checked"] if node["status"] not in ("correction", "window")]
    leaves = sum(all(node["parent"] != index for node in proposed) for index in range(len(proposed)))
    full = "There was room for one token only" if written == TOKENS - 1 else None
    if method == "vanilla" or not iteration["index"]:
        assert not proposed and "computed one token" in told
    elif not proposed:
        assert (full or NOTHING_PROPOSED[method]) in told
    else:
        assert start_of(method, iteration, proposed, leaves) in told
        accepted = sum(node["status"] == "accepted" for node in proposed)
        # Of a whole branch too the number is told.
        assert (f"agreed with {accepted}" in told) == (0 < accepted < len(proposed) + (method == "lookahead"))
    assert f'"{iteration["checked"][-1]["text"]}"' in told
    assert told.startswith("The target read the prompt (11 tokens)") == (iteration["index"] == 0)


@pytest.mark.parametrize("method", METHODS)
def test_the_counts_in_a_sentence_are_those_of_the_trace(traces, method):
    trace, written = traces[method], 0
    for (told, _, meanwhile), iteration in zip(evaluate(SAY, trace), trace["iterations"], strict=True):
        if method == "duodecoding":
            check_parallel(told, iteration)
        else:
            check_in_turn(told, method, iteration, written)
        assert ("reads the prompt" in meanwhile) == (iteration["index"] == 0), meanwhile
        written += len(iteration["committed"])


def test_how_k_came_about_is_told_or_why_there_is_no_threshold(traces):
    trace = traces["duodecoding"]
    for (_, told, _), iteration in zip(evaluate(SAY, trace), trace["iterations"], strict=True):
        over = sum(each["over"] for each in iteration["candidates"])
        if not iteration["candidates"]:
            assert told.startswith("No first tokens")
        elif iteration["theta"] is None:
            assert over == 0 and told.startswith("No θ: it needs two draft steps")
        elif over == 0:
            assert told.startswith("none over the threshold: the most probable starts one all the same; k = 1 sequence")
        else:
            arrow = " →" if over == iteration["sequences"] else ";"
            many = f"at least {over}" if over == len(iteration["candidates"]) else over
            assert told == f"{many} over the threshold ●{arrow} k = {counted(iteration['sequences'], 'sequence')}"
    header = trace["header"] | {"settings": trace["header"]["settings"] | {"sequences": 2}}
    told = [each[1] for each in evaluate(SAY, trace | {"header": header})]
    assert any(text.endswith(", as set") and "→" not in text for text in told)


def test_older_traces_do_not_say_how_much_matched(traces):
    for method, place in {"prompt_lookup": "earlier in the text", "rest": "in the datastore"}.items():
        trace = json.loads(json.dumps(traces[method]))
        for each in trace["iterations"]:
            del each["matched"]
        assert any(told.startswith(f"The end of the text stood {place}") for told, *_ in evaluate(SAY, trace))


def test_the_runs_have_what_is_tested(traces):
    """Trees of a datastore with branches, guesses and windows, proposals accepted and rejected."""
    nodes = {method: [node for each in run["iterations"] for node in each["checked"]] for method, run in traces.items()}
    for method in ("speculative", "prompt_lookup", "rest", "lookahead"):
        assert {"accepted", "rejected"} <= {node["status"] for node in nodes[method]}, method
    assert "window" in {node["status"] for node in nodes["lookahead"]}
    assert max(len(each["checked"]) for each in traces["rest"]["iterations"]) > 60
