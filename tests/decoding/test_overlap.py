"""Beside or in turn: what costs and the last runs say, unless a setting does."""

from dataclasses import replace

from duoviz.decoding import METHODS
from duoviz.decoding.overlap import way_of
from duoviz.decoding.settings import Settings
from duoviz.decoding.vanilla import VANILLA
from duoviz.decoding.way import Way
from duoviz.models.cores import Cores
from tests.decoding.made_costs import costs
from tests.tiny import CORE, change_pair, give_costs, tiny_engine

SETTINGS = Settings(cores="target")
DEAR, CHEAP = costs(0.02, 0.01), costs(0.012, 0.001)


def engine_with(beside, in_turn):
    engine = change_pair(tiny_engine(), cores=Cores(target=(CORE,), draft=(999,)))
    give_costs(engine, beside, in_turn)
    return engine


def is_beside(engine, settings=SETTINGS):
    return way_of(engine, METHODS["duotree"], settings).beside


def test_auto_takes_what_costs_say_and_a_setting_is_obeyed():
    for engine, expected in ((engine_with(DEAR, DEAR), True), (engine_with(DEAR, CHEAP), False)):
        assert is_beside(engine) is expected
        assert not is_beside(engine, replace(SETTINGS, overlap="in_turn"))
        assert is_beside(engine, replace(SETTINGS, overlap="beside"))
    # On one core nothing can work beside anything.
    assert not is_beside(tiny_engine())


def test_a_way_names_its_cores():
    engine = engine_with(DEAR, CHEAP)
    assert way_of(engine, VANILLA, Settings()) == (False, (CORE, 999))
    assert way_of(engine, VANILLA, SETTINGS) == (False, (CORE,))
    assert way_of(engine, METHODS["duodecoding"], Settings()) == (True, (CORE,))


def test_what_the_last_runs_have_shown_counts_more_than_when_costs_were_measured():
    engine = engine_with(DEAR, DEAR)

    def after_runs(*factors, beside):
        for factor in factors:
            engine.costs(Way(beside, (CORE,))).doubt((factor, 1.0))
        return is_beside(engine)

    assert not after_runs(1.9, beside=True)
    assert after_runs(1.9, beside=False)
    # One run that was disturbed among several says nothing.
    assert not after_runs(1.0, 1.0, 1.0, 1.9, beside=False)
    assert not after_runs(1.0, beside=True)
    assert after_runs(1.0, 1.0, 1.9, beside=True)
