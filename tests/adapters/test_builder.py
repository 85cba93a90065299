"""Traces of other engines, from the least one must know."""

import json

import pytest

from duoviz.adapters.builder import Drafted, TraceBuilder
from duoviz.decoding.method import DRAFT
from duoviz.errors import UserError
from duoviz.notebook import Run
from duoviz.trace.exports import perfetto_events
from duoviz.trace.metrics import OF_TIME, metrics
from duoviz.trace.reading import checked_trace
from tests.tiny import DigitTokenizer


def builder(**options):
    names = dict(engine="mine", method="beam", prompt="hi", prompt_ids=[4, 5], max_new_tokens=9, target={"name": "big"})
    return TraceBuilder(tokenizer=DigitTokenizer(), **names, **options)


def nodes(iteration):
    return [(node["id"], node["parent"], node["status"]) for node in iteration["checked"]]


def test_what_became_of_a_tree_follows_from_what_was_committed():
    made = builder(proposer=DRAFT, draft={"name": "small"}, submitted=10.0)
    made.add([7], target_seconds=(10.0, 10.5))
    tree = [Drafted(id=8, q=0.5), Drafted(id=9), Drafted(id=6, parent=-1, p=0.25), Drafted(id=3, parent=2)]
    made.add([6, 5], drafted=tree, accepted=1, target_seconds=(10.7, 11.0), draft_seconds=[(10.5, 10.6), (10.6, 10.7)])
    made.add([2, 2], drafted=[Drafted(id=2), Drafted(id=2)], accepted=2, target_seconds=(11.0, 12.0))
    trace = checked_trace(json.loads(json.dumps(made.trace(stopped="context"))), "it")
    assert nodes(trace["iterations"][1]) == [
        (8, -1, "discarded"), (9, 0, "discarded"), (6, -1, "accepted"), (3, 2, "rejected"), (5, 2, "correction"),
    ]  # fmt: skip
    assert [each["verdict"]["outcome"] for each in trace["iterations"]] == ["none", "rejection", "hit"]
    assert [each["target"]["rows"] for each in trace["iterations"]] == [2, 5, 3]
    figures = metrics(trace)
    assert (figures["tps"], figures["tau"], figures["acceptance"]) == (2.5, 5 / 3, 3 / 4)
    assert trace["end"]["text"] == "<7><6><5><2><2>" and trace["end"]["stopped"] == "context"


def test_times_that_are_not_known_are_no_figures():
    made = builder(proposer=DRAFT)
    made.add([7])
    made.add([8, 3], drafted=[Drafted(id=8)], accepted=1)
    trace = checked_trace(json.loads(json.dumps(made.trace())), "it")
    figures = metrics(trace)
    assert not any(figures[name] is not None for name in OF_TIME) and figures["tau"] == 1.5
    row = Run(trace).to_csv().splitlines()[1].split(",")
    assert row[2:4] == ["", ""]
    with pytest.raises(UserError, match="times are not known"):
        perfetto_events(trace)


def test_tokens_that_were_not_drafted_there_cannot_be_accepted():
    made = builder(proposer=DRAFT)
    with pytest.raises(UserError, match="Token 9 was accepted and is not among the drafted"):
        made.add([8, 9], drafted=[Drafted(id=8), Drafted(id=9, parent=-1)], accepted=2)
