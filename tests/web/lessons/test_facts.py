"""Each figure in a text is read from the trace."""

import re
from html import unescape

import pytest

from duoviz.web.lessons.facts import Facts
from duoviz.web.lessons.text import Mistake, markdown, page_of
from tests.web.lessons.made import duo_trace, iteration, node, own, trace, vanilla_trace

TRACES = {"duodecoding": duo_trace(), "vanilla": vanilla_trace("The sky was blue wide .".split())}


def facts(at=None, method="duodecoding", traces=TRACES):
    return Facts(traces, method, None if at is None else traces[method]["iterations"][at])


def value(of, expression):
    return unescape(re.sub("<.*?>", "", markdown.renderInline(f"{{{expression}}}", page_of(of.names, []))))


def values(of, *expressions):
    return [value(of, expression) for expression in expressions]


def test_of_the_run():
    # 6 tokens in 4 · 20 ms + 24 ms; the first one came after 20 ms.
    expected = {
        "tps | fixed(1)": "57.7", "tau | fixed(2)": "1.20", "new_tokens": "6", "wall | seconds": "104 ms",
        "acceptance | percent": "60 %", "target.device": "core 1", "prompt": "Why?",
        "iteration_time | seconds": "21.0 ms", "vanilla.tps | fixed(1)": "50.0",
        "'both' if can_overlap else 'one'": "both",
    }  # fmt: skip
    assert {name: value(facts(), name) for name in expected} == expected
    prefill = {"duodecoding": trace("duodecoding", duo_trace()["iterations"][:1])}
    with pytest.raises(Mistake):
        value(facts(traces=prefill), "iteration_time | seconds")


def test_of_the_theory_of_taking_turns():
    # γ is the middle one of 1, 2 and 3; a forward of three tokens takes 24 ms, one of one 20 ms, a draft step 4 ms.
    checked = [[node(text, "accepted") for text in "abc"[:number]] for number in (3, 1, 2)]
    turns = [iteration(["a", "b"], tested=2, accepted=1, checked=nodes) for nodes in ([], *checked)]
    found = facts(traces={"duodecoding": trace("duodecoding", turns)})
    assert values(found, "usual_guesses()", "expected_tokens() | fixed(2)") == ["2", "1.75"]
    assert values(found, "expected_speed_up() | fixed(3)") == [f"{1.75 * 20 / (2 * 4 + 24):.3f}"]


def test_of_the_iteration_shown():
    names = (
        "iteration.index", "sequences", "iteration.theta | fixed(3)", "likely_first_token | fixed(3)", "draft_steps",
    )  # fmt: skip
    assert values(facts(1), *names) == ["1", "2", "0.250", "0.500", "4"]
    names = ("discarded", "kept", "target_time | seconds", "draft_time | seconds", "guesses")
    assert values(facts(2), *names) == ["3", "1", "20.0 ms", "20.0 ms", "0"]
    assert values(facts(3), "rejected_token | quoted", "own_token | quoted") == ["“and”", "“wide”"]


def test_a_number_may_count_a_word():
    counted = values(facts(2), "kept | counted('more token')", "iteration.verdict.sequence | counted('guess')")
    assert counted == ["1 more token", "2 guesses"]
    with pytest.raises(Mistake, match="0.1 is not a whole number"):
        value(facts(2), "iteration.theta | counted('token')")


def test_of_a_tree_that_lives_on():
    first = iteration(["b"], draft=2, checked=[node("a", "rejected"), own("</s>")])
    first["target"]["start"] = 0.004
    rest = [node("b", "pending") | {"step": 1}, node("c", "discarded") | {"step": 0}]
    of = facts(0, "duotree", {"duotree": trace("duotree", [first | {"rest": rest}])})
    names = ("steps_before", "survivors", "own_token | quoted", "late_steps", "grown")
    assert values(of, *names) == ["1", "1", "the end of the answer", "1", "1"]


def test_of_a_tree_of_guesses():
    checked = [
        node("a", "rejected", q=0.5),
        node("b", "accepted", q=0.3),
        node("c", "rejected", source="prompt", q=None),
    ]
    traces = {"duotree": trace("duotree", [iteration(["x"], checked=checked)])}
    names = ("second_choice | quoted", "preferred_token | quoted", "second_choice.q | fixed(3)", "free_token | quoted")
    assert values(facts(0, "duotree", traces), *names) == ["“b”", "“a”", "0.300", "“c”"]
    checked.append(node("d", "accepted", source="prompt", q=None))
    traces = {"duotree": trace("duotree", [iteration(["x"], checked=checked)])}
    assert value(facts(0, "duotree", traces), "free_token | quoted") == "“d”"


def test_of_the_calibration():
    names = (
        "T_target(1) | seconds", "T_target(6) | seconds", "T_draft(1) | seconds",
        "(T_draft(8) / T_draft(1)) | fixed(1)", "T_target(32) | over(T_target(1))",
        "0.01354 | over(0.01054)", "2.02 | over(0.1904)",
    )  # fmt: skip
    assert values(facts(), *names) == ["20.0 ms", "28.0 ms", "4.0 ms", "2.0", "5.0", "1.29", "10.6"]
    # 12 tokens take 40 ms, twice as long as one, and 32 less than ten times; 5 steps of 4 ms fit beside one token.
    assert values(facts(), "rows_within(2)", "rows_within(10)", "steps_that_fit(1)") == ["12", "32", "5"]


def test_of_all_runs():
    other = {**TRACES, "vanilla": vanilla_trace("The sky is blue wide .".split())}
    names = ("phi() | fixed(2)", "slowest()", "other_runs()", "same_text()", "against_vanilla()")
    assert values(facts(), *names) == ["1.15", "Vanilla", "1", "1", "15 % faster than"]
    assert value(facts(traces=other), "same_text()") == "0"
    assert value(facts(method="vanilla"), "duodecoding.against_vanilla()") == "15 % faster than"
    slow = {**TRACES, "vanilla": vanilla_trace("a b c d e f".split())}
    slow["vanilla"]["iterations"][-1]["sync"] = 0.06
    assert value(facts(traces=slow), "against_vanilla()") == "42 % slower than"
    slow["vanilla"]["iterations"][-1]["sync"] = 0.105
    assert value(facts(traces=slow), "against_vanilla()") == "about as fast as"


def test_without_vanilla_nothing_is_compared():
    with pytest.raises(Mistake, match="no recorded run of vanilla"):
        value(facts(traces={"duodecoding": TRACES["duodecoding"]}), "slowest()")


MISTAKES = {
    "(new_tokens / 0) | fixed(1)": "division by zero", "target | quoted": "'text'", "magic": "'magic' is undefined",
    "a b": "chunk after expression", "vanilla.magic": "no attribute 'magic'",
    "magic | fixed(1)": "'magic' is undefined", "tps": 'say how to write "tps": seconds',
    "own_token.q": "'own_token' is undefined", "tps | loud": "No filter named 'loud'",
    "new_tokens | fixed(2, 3)": "arguments", "T_target(0) | seconds": "0 is beyond it",
    "T_target(33)": "33 is beyond it", "T_target('a')": "not supported",
}  # fmt: skip


@pytest.mark.parametrize("expression", MISTAKES)
def test_a_mistake_is_told(expression):
    with pytest.raises(Mistake, match=MISTAKES[expression]) as error:
        value(facts(), expression)
    assert f'"{expression}"' in str(error.value) and "\n" not in str(error.value)


def test_what_the_trace_does_not_hold_is_a_mistake():
    for name in ("iteration.theta | fixed(3)", "rejected_token | quoted", "sequences", "second_choice.q | fixed(3)"):
        with pytest.raises(Mistake):
            value(facts(4), name)
    with pytest.raises(Mistake, match="no calibration"):
        value(facts(method="vanilla"), "T_target(8) | seconds")
