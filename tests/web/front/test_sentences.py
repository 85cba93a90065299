"""What is said of each iteration of real runs, by the counts of their traces."""

import json

import pytest

from duoviz.decoding import METHODS
from tests.node import evaluate
from tests.web.front.runs import TOKENS

# The sentence of every iteration, its note, the one on its first tokens, and what is said in the middle of its time.
SAY = """async ({ header, iterations, end }) => {
  const modules = await Promise.all(["sentence", "note", "candidates", "meanwhile"].map((name) => (
    import(`http://plain.test/visualizer/${name}.js`))));
  const { sentence, note, candidateWords, meanwhile } = Object.assign({}, ...modules);
  let before = 0;
  return iterations.map((iteration, index) => {
    const { target, candidates, committed } = iteration;
    const about = { header, before, end, last: index === iterations.length - 1 };
    before += committed.length;
    const during = meanwhile(iteration, header, (target.start + target.end) / 2);
    return [sentence(iteration), candidateWords(iteration, candidates, header), during, note(iteration, about)];
  });
}"""


def counted(number, word, plural=None):
    return f"{number} {word if number == 1 else plural or word + 's'}"


def found_end(matched):
    """How the note begins that says what was found elsewhere."""
    if matched is None:
        return "The end of the text"
    text = matched["text"] if len(matched["text"]) <= 48 else matched["text"][:47] + "…"
    return f'The last {"token" if matched["tokens"] == 1 else counted(matched["tokens"], "token")}, "{text}",'


def proposed_words(method, iteration, proposed, leaves):
    found, many = found_end(iteration["matched"]), counted(len(proposed), "token")
    branches = counted(leaves, "branch", "branches")
    return {
        "speculative": f"The draft proposed {many} ({proposed[0]['q'] or 0:.2f} for",
        "prompt_lookup": f"{found} occurred earlier in the text, followed by {many}.",
        "rest": f"{found} occurred in the datastore, followed by {many} in {branches}.",
        "lookahead": f"Lookahead checked {counted(leaves, 'stored guess', 'stored guesses')}.",
        "duotree": f"The tree had {many} worth checking, in {branches}.",
    }[method]


def check_parallel(told, note, iteration):
    roots = [node for node in iteration["drafted"] if node["parent"] == -1 and node["status"] != "correction"]
    if roots:
        assert f"The draft started {counted(len(roots), 'sequence')}" in note
        assert f'{roots[0]["q"]:.2f} for "{roots[0]["text"]}"' in note
    assert told.startswith("✓") == any(node["status"] == "accepted" for node in iteration["checked"] + roots)


def check_in_turn(told, note, method, iteration, written):
    proposed = [node for node in iteration["checked"] if node["status"] not in ("correction", "window")]
    leaves = sum(all(node["parent"] != index for node in proposed) for index in range(len(proposed)))
    if not proposed:
        assert told.startswith("The target read the prompt and wrote" if not written else "The target wrote")
        full = written == TOKENS - 1 and method != "vanilla"
        assert ("There was room for only one token." in note) == full
    else:
        assert proposed_words(method, iteration, proposed, leaves) in note
        accepted = sum(node["status"] == "accepted" for node in proposed)
        assert told.startswith("✓" if accepted else "✗")
        if leaves == 1 and len(proposed) > 2:
            of = {0: f"None of {len(proposed)}", len(proposed): f"All {accepted}"}
            assert f"{of.get(accepted, f'{accepted} of {len(proposed)}')} guesses right" in told
        if leaves > 1 and accepted > 1:
            assert f"{accepted} guesses right, in one of {leaves} branches" in told
    assert f'"{iteration["checked"][-1]["text"]}"' in told or iteration["checked"][-1]["status"] == "window"


@pytest.mark.parametrize("method", METHODS)
def test_the_counts_in_a_sentence_are_those_of_the_trace(traces, method):
    trace, written = traces[method], 0
    for (told, _, meanwhile, note), iteration in zip(evaluate(SAY, trace), trace["iterations"], strict=True):
        if method == "duodecoding":
            check_parallel(told, note, iteration)
        else:
            check_in_turn(told, note, method, iteration, written)
        assert ("reads the prompt" in meanwhile) == (iteration["index"] == 0), meanwhile
        assert ("The prompt has 11 tokens." in note) == (iteration["index"] == 0)
        written += len(iteration["committed"])


def test_how_k_came_about_is_told_or_why_there_is_no_threshold(traces):
    trace = traces["duodecoding"]
    for (_, told, *_), iteration in zip(evaluate(SAY, trace), trace["iterations"], strict=True):
        over = sum(each["over"] for each in iteration["candidates"])
        if not iteration["candidates"]:
            assert told == "Nothing was drafted in this iteration."
        elif iteration["theta"] is None:
            assert over == 0 and told.startswith("No θ: it needs two draft steps")
        elif over == 0:
            assert told == "none over the threshold, so only the most probable starts a sequence; k = 1 sequence"
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
        assert any(note.startswith(f"The end of the text occurred {place}") for *_, note in evaluate(SAY, trace))


def test_the_runs_have_what_is_tested(traces):
    """Trees of a datastore with branches, guesses and windows, proposals accepted and rejected."""
    nodes = {method: [node for each in run["iterations"] for node in each["checked"]] for method, run in traces.items()}
    for method in ("speculative", "prompt_lookup", "rest", "lookahead"):
        assert {"accepted", "rejected"} <= {node["status"] for node in nodes[method]}, method
    assert "window" in {node["status"] for node in nodes["lookahead"]}
    assert max(len(each["checked"]) for each in traces["rest"]["iterations"]) > 60
