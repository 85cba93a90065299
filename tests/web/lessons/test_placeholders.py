"""Each figure in a text is read from the trace."""

import pytest

from duoviz.web.lessons.placeholders import NAMES, Facts, NotInTrace, UnknownPlaceholder, value
from tests.web.lessons.made import duo_trace, iteration, node, own, trace, vanilla_trace

TRACES = {"duodecoding": duo_trace(), "vanilla": vanilla_trace("The sky was blue wide .".split())}


def facts(at=None, method="duodecoding", traces=TRACES):
    return Facts(traces, method, None if at is None else traces[method]["iterations"][at])


def test_of_the_run():
    # 6 tokens in 4 · 20 ms + 24 ms; the first one came after 20 ms.
    expected = {
        "tps": "57.7", "tau": "1.20", "new_tokens": "6", "target_forwards": "5", "wall": "104 ms", "ttft": "20 ms",
        "acceptance": "60 %", "method": "DuoDecoding", "target_device": "core 1", "prompt": "Why?",
    }  # fmt: skip
    assert {name: value(name, facts()) for name in expected} == expected


def test_of_the_iteration_shown():
    names = ("iteration", "k", "gamma", "theta", "first_p", "second_p", "draft_steps", "committed", "rejected_token")
    assert [value(name, facts(1)) for name in names] == ["1", "2", "5", "0.250", "0.500", "0.500", "4", "2", "“is”"]
    names = ("own_token", "discarded", "kept", "taken", "target_time", "draft_time", "draft_idle_time", "pending")
    assert [value(name, facts(2)) for name in names[1:]] == ["3", "1", "2", "20 ms", "20 ms", "0.0 ms", "0"]
    assert value("longest", facts(2)) == "3"
    assert value("own_token", facts(3)) == "“wide”"
    assert value("target_time", facts(3)) == "24 ms"


def test_a_number_may_count_a_word():
    counted = [value(name, facts(2)) for name in ("kept more token", "taken guess", "vanilla.other_runs run")]
    assert counted == ["1 more token", "2 guesses", "1 run"]
    assert value("rows_within(2) token", facts()) == "12 tokens"
    with pytest.raises(UnknownPlaceholder, match="theta is not a whole number"):
        value("theta token", facts(2))


def test_of_a_tree_that_lives_on():
    first = iteration(["b"], draft=2, checked=[node("a", "rejected"), own("</s>")])
    first["target"]["start"] = 0.004
    living = {"chance": 0.25, "was": None}
    rest = [node("b", "pending") | living | {"step": 1}, node("c", "discarded") | living | {"step": 0}]
    started = {"expected": 1.5, "rate": 49.6, "gain": -0.001, "seconds": 0.0012}
    run = trace("duotree", [iteration(["x"]), first | {"rest": rest, "start": started}])
    names = ("steps_before", "survived", "gain", "gain_time", "rate", "own_token", "draft_meanwhile")
    found = [value(name, facts(1, "duotree", {"duotree": run})) for name in names]
    assert found == ["1", "1", "0.00", "1.2 ms", "50", "the end of the answer", "went on, and added 1 token or more"]
    run["iterations"][1]["draft"].pop()
    assert value("draft_meanwhile", facts(1, "duotree", {"duotree": run})) == "waited"
    choice = [node("a", "rejected", q=0.5), node("b", "accepted", q=0.3) | living]
    run["iterations"][1]["checked"] = choice
    names = ("second_choice", "preferred_token", "second_choice_q", "second_choice_chance")
    found = [value(name, facts(1, "duotree", {"duotree": run})) for name in names]
    assert found == ["“b”", "“a”", "0.300", "0.250"]
    copied = node("c", "rejected", source="prompt", q=None)
    run["iterations"][1]["checked"] = [*choice, copied]
    names = ("free_token", "free_token_fate")
    found = [value(name, facts(1, "duotree", {"duotree": run})) for name in names]
    assert found == ["“c”", "the answer continued differently"]
    run["iterations"][1]["checked"].append(node("d", "accepted", source="prompt", q=None))
    found = [value(name, facts(1, "duotree", {"duotree": run})) for name in names]
    assert found == ["“d”", "it was right"]
    assert value("way", facts()) == "at the same time"
    with pytest.raises(NotInTrace, match="value for “way”"):
        value("way", facts(method="vanilla"))


def test_of_the_calibration():
    names = ("T_target(1)", "T_target(6)", "T_draft(1)", "target_ratio(8)", "draft_ratio(8)")
    assert [value(name, facts()) for name in names] == ["20 ms", "28 ms", "4.0 ms", "1.5", "2.0"]
    # 12 tokens take 40 ms, twice as long as one, and 32 less than ten times; 5 steps of 4 ms fit beside one token.
    assert [value(f"rows_within({times})", facts()) for times in (2, 10)] == ["12", "32"]
    assert value("steps_that_fit(1)", facts()) == "5"


def test_of_all_runs():
    other = {**TRACES, "vanilla": vanilla_trace("The sky is blue wide .".split())}
    found = [value(name, facts()) for name in ("phi", "fastest", "other_runs", "same_text")]
    assert found == ["1.15", "DuoDecoding", "1", "1"]
    assert value("same_text", facts(traces=other)) == "0"
    assert value("against_vanilla", facts()) == "15 % faster than"
    assert value("vanilla.tps", facts()) == "50.0"
    # 84 ms for the four iterations after the prefill.
    assert [value(name, facts()) for name in ("iteration_time", "vanilla.iteration_time")] == ["21 ms", "20 ms"]
    with pytest.raises(NotInTrace, match="value for “iteration_time”"):
        value("iteration_time", facts(traces={"duodecoding": trace("duodecoding", duo_trace()["iterations"][:1])}))
    slow = {**TRACES, "vanilla": vanilla_trace("a b c d e f".split())}
    slow["vanilla"]["iterations"][-1]["sync"] = 0.06
    assert value("against_vanilla", facts(traces=slow)) == "42 % slower than"
    slow["vanilla"]["iterations"][-1]["sync"] = 0.105
    assert value("against_vanilla", facts(traces=slow)) == "about as fast as"


def test_a_run_on_another_prompt_is_not_compared():
    alone = {**TRACES, "vanilla": trace("vanilla", vanilla_trace()["iterations"], prompt="Where?")}
    with pytest.raises(NotInTrace, match="run of Vanilla on the same prompt"):
        value("phi", facts(traces=alone))
    with pytest.raises(NotInTrace, match="run of Vanilla beside it"):
        value("fastest", facts(traces={"duodecoding": TRACES["duodecoding"]}))


def test_others_are_unknown():
    names = ["magic", "TPS", "", "a b", "vanilla.magic", "nobody.tps", "tps(1)"]
    for name in names + [f"T_target{length}" for length in ("", "()", "(0)", "(33)")]:
        with pytest.raises(UnknownPlaceholder):
            value(name, facts(1))


def test_an_iteration_s_figure_needs_an_iteration():
    with pytest.raises(UnknownPlaceholder, match="give it an `at`"):
        value("k", facts())
    with pytest.raises(UnknownPlaceholder, match="of another method"):
        value("vanilla.k", facts(1))


def test_what_the_trace_does_not_hold_is_said():
    for name, at in (("theta", 4), ("rejected_token", 4), ("k", 4)):
        with pytest.raises(NotInTrace, match=f"value for “{name}”"):
            value(name, facts(at))
    with pytest.raises(NotInTrace, match="calibration"):
        value("T_target(8)", facts(method="vanilla"))


OF_A_NUMBER = ("T_target", "T_draft", "rows_within", "steps_that_fit")


def test_every_name_gives_a_text_or_says_why_not():
    for name in NAMES:
        called = f"{name}(1)" if name in OF_A_NUMBER or name.endswith("_ratio") else name
        for at in range(5):
            try:
                assert isinstance(value(called, facts(at)), str)
            except NotInTrace:
                continue
