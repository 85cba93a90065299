"""Each figure in a text is read from the trace."""

import re
from html import unescape

import pytest

from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.text import Mistake, markdown, page_of
from duoviz.web.results_store import averages, first_view_of, in_words, said_below
from tests.web.lessons.made import duo_trace, iteration, node, own, trace, vanilla_trace

TRACES = {"duodecoding": duo_trace(), "vanilla": vanilla_trace("The sky was blue wide .".split())}


def facts(at=None, method="duodecoding", traces=TRACES):
    return Facts(traces, method, None if at is None else traces[method]["iterations"][at])


def value(of, expression):
    return unescape(re.sub("<.*?>", "", markdown.renderInline(f"{{{expression}}}", page_of(of.names, []))))


def of_one(method, *iterations):
    """Of the first of these, the method's only run."""
    return facts(0, method, {method: trace(method, list(iterations))})


def in_turn():
    """A run whose γ is the larger one of 2 and 1, and whose steps take 3 ms; the prompt's forward has no guesses."""
    checked = [[node(text, "accepted") for text in "ab"[:number]] for number in (2, 1)]
    turns = [iteration(["a", "b"], tested=2, accepted=1, checked=nodes, draft=len(nodes)) for nodes in ([], *checked)]
    for step in (step for turn in turns for step in turn["draft"]):
        step["end"] = step["start"] + 0.003
    return facts(traces={"duodecoding": trace("duodecoding", turns)})


def living():
    """A tree that lives on, of which the target's forward began after the first draft step."""
    first = iteration(["b"], draft=2, checked=[node("a", "rejected"), own("</s>")])
    first["target"]["start"] = 0.004
    rest = [node("b", "pending") | {"step": 1}, node("c", "discarded") | {"step": 0}]
    return of_one("duotree", first | {"rest": rest})


CHECKED = [node("a", "rejected", q=0.5), node("b", "accepted", q=0.3), node("c", "rejected", source="prompt", q=None)]
ACCEPTED = node("d", "accepted", source="prompt", q=None)


def beside_vanilla(seconds=0.12):
    """Beside a run of vanilla's with another text, in so many seconds."""
    run = vanilla_trace("The sky is blue wide .".split())
    run["iterations"][-1]["sync"] = seconds
    return facts(traces=TRACES | {"vanilla": run})


# 12 tokens take 40 ms, twice as long as one, and 32 less than ten times; 5 steps of 4 ms fit beside one token.
CALIBRATION = {
    "T_target(1) | seconds": "20.0 ms", "T_target(6) | seconds": "28.0 ms", "T_draft(1) | seconds": "4.0 ms",
    "(T_draft(8) / T_draft(1)) | fixed(1)": "2.0", "T_target(32) | over(T_target(1))": "5.00",
    "0.01354 | over(0.01054)": "1.29", "2.02 | over(0.1904)": "10.6",
    # Halves go up, as in the page's scripts.
    "0.525 | percent": "53 %", "1.625 | fixed(2)": "1.63",
    "step_time() | seconds": "4.0 ms", "rows_within(2)": "12", "rows_within(10)": "32", "steps_that_fit(1)": "5",
}  # fmt: skip
CASES = {
    # 6 tokens in 4 · 20 ms + 24 ms; the first one came after 20 ms.
    "a run": (facts(), {
        "tps | fixed(1)": "57.7", "tau | fixed(2)": "1.20", "new_tokens": "6", "wall | seconds": "104 ms",
        "acceptance | percent": "60 %", "target.device": "core 1", "prompt": "Why?",
        "iteration_time | seconds": "21.0 ms", "vanilla.tps | fixed(1)": "50.0",
        "'both' if can_overlap else 'one'": "both",
    }),
    # A forward of three tokens takes 24 ms, one of one 20 ms, a draft step 4 ms.
    "theory": (in_turn(), {
        "usual_guesses()": "2", "expected_tokens() | fixed(2)": "1.75",
        "expected_speed_up() | fixed(3)": f"{1.75 * 20 / (2 * 3 + 24):.3f}",
        # 1.5 · 20 / 25, 1.75 · 20 / 30 and less.
        "best_guesses(4)": "1",
    }),
    "a miss": (facts(1), {
        "iteration.index": "1", "sequences": "2", "iteration.theta | fixed(3)": "0.250",
        "likely_first_token | fixed(3)": "0.500", "draft_steps": "4",
    }),
    "a hit": (facts(2), {
        "discarded": "3", "kept": "1", "target_time | seconds": "20.0 ms", "draft_time | seconds": "20.0 ms",
        "guesses": "0", "kept | counted('more token')": "1 more token",
        "iteration.verdict.sequence | counted('guess')": "2 guesses",
    }),
    "a rejection": (facts(3), {"rejected_token | quoted": "“and”", "own_token | quoted": "“wide”"}),
    "a tree that lives on": (living(), {
        "steps_before": "1", "survivors": "1", "own_token | quoted": "the end of the answer", "late_steps": "1",
        "grown": "1",
    }),
    "a tree of guesses": (of_one("duotree", iteration(["x"], checked=CHECKED)), {
        "second_choice | quoted": "“b”", "preferred_token | quoted": "“a”", "second_choice.q | fixed(3)": "0.300",
        "free_token | quoted": "“c”",
    }),
    "a found token": (of_one("duotree", iteration(["x"], checked=[*CHECKED, ACCEPTED])), {
        "free_token | quoted": "“d”",
    }),
    "a calibration": (facts(), CALIBRATION),
    "all runs": (facts(), {
        "phi() | fixed(2)": "1.15", "other_runs()": "1", "same_text()": "1",
        "lab_phi()": in_words(averages()["DuoDecoding"]),
        "lab_phi_as_published()": f"{averages()['DuoDecoding']['published']:.2f}",
        "lab_steps()": f"{first_view_of('two-cores')['overview']['pays']['start']['steps']:.1f}",
        'lab_said("table-4")': said_below("two-cores", "table-4"),
    }),
    "another run's": (facts(method="vanilla"), {"duodecoding.phi() | fixed(2)": "1.15"}),
    "another text": (beside_vanilla(), {"same_text()": "0"}),
    "a faster vanilla": (beside_vanilla(0.06), {"phi() | fixed(2)": "0.58"}),
}  # fmt: skip


@pytest.mark.parametrize("of, expected", CASES.values(), ids=CASES)
def test_each_figure_is_read_from_the_trace(of, expected):
    assert {expression: value(of, expression) for expression in expected} == expected


PREFILL = facts(traces={"duodecoding": trace("duodecoding", duo_trace()["iterations"][:1])})
MISTAKES = [
    (facts(), {
        "(new_tokens / 0) | fixed(1)": "division by zero", "target | quoted": "'text'", "magic": "'magic' is undefined",
        "a b": "chunk after expression", "vanilla.magic": "no attribute 'magic'",
        "magic | fixed(1)": "'magic' is undefined", "tps": 'say how to write "tps": seconds',
        "own_token.q": "'own_token' is undefined", "tps | loud": "No filter named 'loud'",
        "new_tokens | fixed(2, 3)": "arguments", "T_target(0) | seconds": "0 is beyond it",
        "T_target(33)": "33 is beyond it", "T_target('a')": "not supported",
    }),
    (facts(2), {"0.1 | counted('token')": "0.1 is not a whole number"}),
    # What the trace does not hold.
    (facts(4), {
        "iteration.theta | fixed(3)": "NoneType", "rejected_token | quoted": "NoneType", "sequences": "say how",
        "second_choice.q | fixed(3)": "has no attribute",
    }),
    (facts(method="vanilla"), {
        "T_target(8) | seconds": "no calibration", "weight_bytes()": "is not known", "step_time()": "no draft steps",
    }),
    (PREFILL, {"iteration_time | seconds": "NoneType", "phi()": "no recorded run of vanilla"}),
]  # fmt: skip


@pytest.mark.parametrize("of, expression, told", [(of, *each) for of, some in MISTAKES for each in some.items()])
def test_a_mistake_is_told(of, expression, told):
    with pytest.raises(Mistake, match=told) as error:
        value(of, expression)
    assert f'"{expression}"' in str(error.value) and "\n" not in str(error.value)
