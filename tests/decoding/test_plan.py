"""The plan of a run: everything is decided once, and what cannot run is refused before the first event."""

import pytest

from duoviz import runner
from duoviz.decoding import METHODS, engine, plan
from duoviz.decoding.datastore import DatastoreError
from duoviz.decoding.plan import make_plan
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.models.cores import Cores
from tests.decoding.made_costs import costs
from tests.decoding.stores import build
from tests.tiny import change_pair, give_costs, tiny_engine


def apart(**options):
    """The tiny engine, as if its draft had a core of its own."""
    tiny = tiny_engine(**options)
    return change_pair(tiny, cores=Cores(target=tiny.pair.cores.target, draft=(999,)))


@pytest.mark.parametrize("overlap", ["beside", "in_turn", "auto"])
@pytest.mark.parametrize("method", METHODS)
def test_the_way_is_decided_once_and_the_header_says_it(method, overlap, monkeypatch, store):
    """The draft costs half of the target and nothing to it, so that auto is beside."""
    tiny, asked, way_of = apart(), [], plan.way_of
    give_costs(tiny, costs(0.02, 0.01))
    monkeypatch.setattr(plan, "way_of", lambda *arguments: asked.append(way_of(*arguments)) or asked[-1])
    settings = Settings(max_new_tokens=8, overlap=overlap, cores="target", rest_datastore=store)
    header = runner.collect(runner.stream(tiny, method, "hello", settings))["header"]
    (way,) = asked
    assert way.beside == (METHODS[method].parallel or (method == "duotree" and overlap != "in_turn"))
    assert way.cores == tiny.pair.cores.target and header["can_overlap"] == way.beside
    assert header["target"]["device"] == tiny.pair.target_device_label(way.cores)
    assert bool(header["draft"]) == bool(header["calibration"]) == METHODS[method].draft
    if header["draft"]:
        label = tiny.pair.draft_device_label() if way.beside else header["target"]["device"]
        assert header["draft"]["device"] == label


def test_a_plan_holds_what_its_method_reads(store):
    settings = Settings(max_new_tokens=50, temperature=0.9, acceptance="rejection", rest_datastore=store)
    plans = {name: make_plan(tiny_engine(), method, "hello", settings) for name, method in METHODS.items()}
    assert {name for name in plans if plans[name].classical} == {"speculative", "duodecoding"}
    assert {name for name in plans if plans[name].datastore} == {"rest"}
    assert {name for name in plans if plans[name].draft and plans[name].costs} == {
        name for name, method in METHODS.items() if method.draft
    }
    assert {(tuple(made.prompt_ids), made.room) for made in plans.values()} == {
        (tuple(tiny_engine().pair.encode("hello")), (55, "length"))
    }
    greedy = make_plan(tiny_engine(), METHODS["speculative"], "hello", Settings(acceptance="rejection"))
    assert greedy.classical is None


def test_only_a_tree_beside_its_target_has_patience():
    """Where the draft's step takes more than half of the target's, the target does not wait for it."""
    tiny = apart()
    give_costs(tiny, costs(0.02, 0.012))
    for name in ("duodecoding", "duotree"):
        for overlap in ("beside", "in_turn"):
            made = make_plan(tiny, METHODS[name], "hello", Settings(overlap=overlap))
            assert (made.patience < 1) == ((name, overlap) == ("duotree", "beside"))


def test_a_target_that_reads_one_continuation_is_refused_where_trees_are_needed():
    tiny = tiny_engine()
    tiny.pair.target.supports_tree = False
    needy = [name for name, method in METHODS.items() if method.trees]
    assert needy == ["lookahead"]
    with pytest.raises(SettingsError, match="Lookahead needs a target that reads several continuations"):
        next(runner.stream(tiny, "lookahead", "hello", Settings()))


def test_a_datastore_that_cannot_be_opened_is_refused_before_the_first_event(tmp_path, monkeypatch):
    tiny = tiny_engine()
    tiny.pair.tokenizer.get_vocab = lambda: {"other": 0}
    monkeypatch.setattr(engine, "DATASTORE_FOLDER", build([[1, 2]], tmp_path / "store"))
    with pytest.raises(DatastoreError, match="another tokenizer than that of .*--pair tiny"):
        next(runner.stream(tiny, "rest", "hello", Settings()))
    for folder in (tmp_path / "nothing", "~nobody/here", "a\0b", "x" * 5000):
        with pytest.raises(DatastoreError, match="datastore"):
            next(runner.stream(tiny, "rest", "hello", Settings(rest_datastore=str(folder))))
