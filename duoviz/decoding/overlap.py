"""Beside or in turn: which way a run takes on this machine."""

from duoviz.decoding.acceptance_table import fitted_table, plain
from duoviz.decoding.duotree.policy import most_verified
from duoviz.decoding.duotree.simulate import Forecast, forecast
from duoviz.decoding.engine import Engine
from duoviz.decoding.method import Method
from duoviz.decoding.settings import Settings
from duoviz.decoding.way import Way


def way_of(engine: Engine, method: Method, settings: Settings) -> Way:
    """The way of a run: as the method or the settings say, else as the forecasts do. Raises DraftDied."""
    ways = possible_ways(engine, method, settings)
    return max(ways, key=lambda way: forecast_of(engine, settings, way).speed) if len(ways) > 1 else ways[0]


def possible_ways(engine: Engine, method: Method, settings: Settings) -> list[Way]:
    """The ways that a run may take: two where costs decide, first in turn, which wins where both are as fast."""
    cores = engine.pair.cores
    in_turn, beside = Way(False, cores.target if settings.cores == "target" else cores.all), Way(True, cores.target)
    if "overlap" not in method.settings:
        return [beside if method.parallel else in_turn]
    if settings.overlap == "auto" and cores.can_overlap:
        return [in_turn, beside]
    return [beside if settings.overlap == "beside" else in_turn]


def forecast_of(engine: Engine, settings: Settings, way: Way) -> Forecast:
    """What to expect of a way, with its own costs, as far as its last runs have borne them out. Raises DraftDied."""
    costs = engine.costs(way)
    expected = forecast(
        costs.model(),
        (fitted_table(engine.pair.draft.folder) or plain()).places(),
        beside=way.beside,
        children=settings.tree_children,
        trees=engine.pair.target.supports_tree,
        most=most_verified(settings.tree_budget),
    )
    return expected._replace(speed=expected.speed / costs.drift)
