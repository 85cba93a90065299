"""The plan of a run: everything is decided once, and what cannot run is refused before the first event."""

import pytest

from duoviz import runner
from duoviz.decoding import METHODS, plan
from duoviz.decoding.placement import Placement
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import VANILLA
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


def test_a_target_in_turn_has_the_cores_that_are_faster_now():
    tiny = apart()
    both, one = (Placement(False, cores) for cores in (tiny.pair.cores.all, tiny.pair.cores.target))

    def cores_with(seconds_on_both, seconds_on_one, **settings):
        for placement, seconds in ((both, seconds_on_both), (one, seconds_on_one)):
            tiny.kept_costs[placement] = GivenCosts(costs(seconds))
        return plan.placement_of(tiny, VANILLA, Settings(**settings))

    assert cores_with(0.02, 0.03) == cores_with(0.02, 0.0195) == both
    assert cores_with(0.02, 0.018) == cores_with(0.0195, 0.02) == one
    assert cores_with(0.018, 0.02) == cores_with(0.03, 0.02, cores="all") == both
    assert cores_with(0.02, 0.03, cores="target") == one
    tiny.kept_costs.clear()
    assert plan.placement_of(tiny, METHODS["speculative"], Settings()) == both


def test_the_drafts_core_is_lent_where_the_target_is_faster_with_it():
    tiny = apart()
    both, one = (Placement(False, cores) for cores in (tiny.pair.cores.all, tiny.pair.cores.target))

    def borrowed(on_both=0.02, on_one=0.03, *, method="duodecoding", joinable=True, **settings):
        tiny.pair.target.joinable, tiny.taken = joinable, None
        for placement, seconds in ((both, on_both), (one, on_one)):
            tiny.kept_costs[placement] = GivenCosts(costs(seconds))
        placement = plan.placement_of(tiny, METHODS[method], Settings(**settings))
        assert placement.cores == one.cores and placement.beside
        return placement.borrowed

    assert borrowed() == (999,)
    made = plan.make_plan(tiny, METHODS["duodecoding"], "hello", Settings())
    assert runner.header(made)["target"]["borrows"]
    assert borrowed(on_one=0.018) == borrowed(joinable=False) == borrowed(draft_mode="paper") == ()
    # DuoTree's draft is never done.
    assert borrowed(method="duotree", overlap="beside") == ()


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
