"""The plan of a run: everything is decided once, and what cannot run is refused before the first event."""

from functools import partial
from math import log

import pytest

from duoviz import runner
from duoviz.decoding import METHODS, plan
from duoviz.decoding.placement import Placement
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.models.cores import Cores
from tests.decoding.made_costs import costs
from tests.tiny import GivenCosts, change_pair, give_costs, tiny_engine, traced


def apart(**options):
    """The tiny engine, as if its draft had a core of its own."""
    tiny = tiny_engine(**options)
    return change_pair(tiny, cores=Cores(target=tiny.pair.cores.target, draft=(999,)))


@pytest.mark.parametrize("overlap", ["beside", "in_turn", "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_the_way_is_decided_once_and_the_header_says_it(method, overlap, monkeypatch, store):
    tiny, asked, placement_of = apart(), [], plan.placement_of
    give_costs(tiny, costs(0.02, 0.01))
    monkeypatch.setattr(plan, "placement_of", lambda *arguments: asked.append(placement_of(*arguments)) or asked[-1])
    settings = {"overlap": overlap, "cores": "target", "rest_datastore": store}
    header = traced(tiny, method, max_new_tokens=8, **settings)["header"]
    (placement,) = asked
    assert placement.beside == (METHODS[method].parallel or (method == "duotree" and overlap == "beside"))
    assert placement.cores == tiny.pair.cores.target and header["can_overlap"] == placement.beside
    assert header["target"]["cpu"] and header["target"]["borrows"] == bool(placement.borrowed)
    assert header["target"]["device"] == tiny.pair.target_device_label(placement.cores)
    assert bool(header["draft"]) == bool(header["calibration"]) == METHODS[method].draft
    if header["draft"]:
        label = tiny.pair.draft_device_label() if placement.beside else header["target"]["device"]
        assert header["draft"]["device"] == label


def test_auto_takes_turns_on_a_processor_and_drafts_beside_a_target_on_a_gpu(monkeypatch):
    tiny = apart()
    assert not plan.placement_of(tiny, METHODS["duotree"], Settings()).beside
    monkeypatch.setattr(tiny.pair.target, "device", "cuda:0")
    assert plan.placement_of(tiny, METHODS["duotree"], Settings()) == Placement(True, tiny.pair.cores.target)


def placed(tiny, on_both, on_one, *, method, joinable=True, **settings):
    """Where a run goes, by the seconds of a target's forward on both cores and on its own."""
    tiny.pair.target.joinable = joinable
    for cores, seconds in ((tiny.pair.cores.all, on_both), (tiny.pair.cores.target, on_one)):
        given = tiny.kept_costs[Placement(False, cores)] = GivenCosts(costs(seconds))
        given.target.logs[0][0] = log(seconds)
    return plan.placement_of(tiny, METHODS[method], Settings(**settings))


def test_a_target_in_turn_has_the_cores_that_are_faster_now():
    tiny = apart()
    both, one = (Placement(False, cores) for cores in (tiny.pair.cores.all, tiny.pair.cores.target))
    found = partial(placed, tiny, method="vanilla")
    # Those taken before, unless the others are clearly faster.
    assert found(0.02, 0.03) == found(0.02, 0.0195) == both
    assert found(0.02, 0.018) == found(0.0195, 0.02) == one
    assert found(0.018, 0.02) == found(0.03, 0.02, cores="all") == both
    assert found(0.02, 0.03, cores="target") == one
    tiny.kept_costs.clear()
    assert plan.placement_of(tiny, METHODS["speculative"], Settings()) == both


def test_the_drafts_core_is_lent_where_the_target_is_faster_with_it():
    tiny = apart()
    found = partial(placed, tiny, method="duodecoding")
    assert found(0.02, 0.03) == Placement(True, tiny.pair.cores.target, borrowed=(999,))
    assert runner.header(plan.make_plan(tiny, METHODS["duodecoding"], "hello", Settings()))["target"]["borrows"]
    # DuoTree's draft is never done.
    kept = {"not faster": found(0.02, 0.018), "cannot": found(0.02, 0.03, joinable=False),
            "paper": found(0.02, 0.03, draft_mode="paper"),
            "duotree": found(0.02, 0.03, method="duotree", overlap="beside")}  # fmt: skip
    assert set(kept.values()) == {Placement(True, tiny.pair.cores.target)}, kept


def test_a_target_that_reads_one_continuation_is_refused_where_trees_are_needed():
    tiny = tiny_engine()
    tiny.pair.target.supports_tree = False
    needy = [name for name, method in METHODS.items() if method.trees]
    assert needy == ["lookahead"]
    with pytest.raises(UserError, match="Lookahead checks several continuations at once"):
        next(runner.stream(tiny, "lookahead", "hello", Settings()))


def test_a_datastore_that_cannot_be_opened_is_refused_before_the_first_event(tmp_path):
    for folder in (tmp_path / "nothing", "~nobody/here", "a\0b", "x" * 5000):
        with pytest.raises(UserError, match="datastore"):
            next(runner.stream(tiny_engine(), "rest", "hello", Settings(rest_datastore=str(folder))))
