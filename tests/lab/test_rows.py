"""What a row keeps of a trace."""

import json
import re

import pytest

from duoviz.lab.files import wrong_in
from duoviz.lab.rows import BEYOND, measured, needed_k, time_parts
from tests.app import ROOT
from tests.tiny import tiny_engine, traced


@pytest.mark.parametrize("method", ["vanilla", "speculative", "prompt_lookup", "duodecoding"])
def test_one_entry_an_iteration_and_times_that_add_up(method):
    trace = traced(tiny_engine(), method, max_new_tokens=60)
    kept = measured(trace)
    arrays, wall = kept["iterations"], trace["end"]["wall"]
    assert {len(values) for values in arrays.values()} == {len(trace["iterations"])}
    assert sum(arrays["seconds"]) == pytest.approx(wall, abs=1e-4) == sum(kept["time"].values())
    assert arrays["rows"][0] == 5 + (arrays["drafted"][0] if method in ("speculative", "prompt_lookup") else 0)
    drafts = method in ("speculative", "duodecoding")
    assert (sum(arrays["draft_steps"]) > 0) == drafts == (sum(arrays["draft"]) > 0)
    assert arrays["draft_rows"] == [sum(step["tokens"] for step in each["draft"]) for each in trace["iterations"]]
    tested = sum(iteration["verdict"]["tested"] for iteration in trace["iterations"])
    assert kept["counts"]["tested"] == tested and (tested > 0) == (method != "vanilla")
    # What DuoDecoding checks was drafted one iteration before.
    tree = "drafted" if method == "duodecoding" else "checked"
    drafted = [sum(node["source"] != "target" for node in each[tree]) for each in trace["iterations"]]
    assert arrays["drafted"] == drafted
    # Only DuoDecoding chooses k.
    assert any(k is not None for k in arrays["k"]) == (method == "duodecoding")


def test_the_docs_show_an_answer():
    example = json.loads(re.findall("```json\n(.*?)```", (ROOT / "docs" / "lab.md").read_text(), re.DOTALL)[0])
    assert wrong_in("answers/duodecoding.jsonl", example) is None
    assert example["measured"][0].keys() == measured(traced(tiny_engine())).keys()


def iteration(outcome, wanted, *, theta=0.3):
    candidates = [{"id": id} for id in (7, 3, 5, 2)]
    drafted = [{"id": 7, "parent": -1, "status": "rejected"}, {"id": 4, "parent": 0, "status": "pending"}]
    if outcome == "hit":
        drafted[0] = {"id": wanted, "parent": -1, "status": "accepted"}
    if outcome == "miss":
        drafted.append({"id": wanted, "parent": -1, "status": "correction"})
    return {"theta": theta, "verdict": {"outcome": outcome}, "drafted": drafted, "candidates": candidates}


def test_the_needed_k_is_the_rank_of_the_targets_token_among_the_first_tokens():
    ranks = {("hit", 7): 1, ("hit", 5): 3, ("miss", 2): 4, ("miss", 11): BEYOND, ("rejection", 7): None}
    assert {case: needed_k(iteration(*case)) for case in ranks} == ranks
    assert needed_k(iteration("hit", 7, theta=None)) is None
    for each in traced(tiny_engine(), max_new_tokens=60)["iterations"]:
        if each["verdict"]["outcome"] == "hit" and each["theta"] is not None:
            assert needed_k(each) == each["verdict"]["sequence"]


def test_time_parts_split_overlap_and_what_neither_does():
    def at(sync, target, *draft):
        steps = [{"start": start, "end": end} for start, end in draft]
        return {"sync": sync, "target": {"start": target[0], "end": target[1]}, "draft": steps}

    # The draft still reads the prompt when the second iteration begins.
    parts = time_parts([at(1.0, (0.0, 1.0)), at(2.0, (1.0, 1.6), (0.5, 1.2)), at(3.0, (2.1, 2.5), (2.3, 2.8))])
    assert parts == {"prompt": 1.0, "target": 0.6, "both": 0.4, "draft": 0.3, "neither": 0.7}
