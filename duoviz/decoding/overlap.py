"""Beside or in turn: which way of drafting DuoTree should take on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from duoviz.decoding.budget import CostModel
from duoviz.decoding.calibration import cost_model, drift_of, refine_costs
from duoviz.decoding.chances import chances_of
from duoviz.decoding.draft_worker import Draft
from duoviz.decoding.duodecoding import running_draft
from duoviz.decoding.forecast import Forecast, forecast
from duoviz.decoding.growing import MOST_VERIFIED
from duoviz.decoding.settings import Settings
from duoviz.decoding.speculative import draft_in_turn
from duoviz.models.cores import on_cores
from duoviz.models.pair import Pair


def works_beside(pair: Pair, settings: Settings) -> bool:
    """Whether the draft works beside the target: as set, else as the forecasts say. Raises DraftDied."""
    if not is_open(pair, settings):
        return settings.overlap == "beside"
    beside, in_turn = (forecast_of(pair, settings, beside=beside) for beside in (True, False))
    return beside.speed > in_turn.speed


def is_open(pair: Pair, settings: Settings) -> bool:
    """Whether costs decide."""
    return settings.overlap == "auto" and pair.cores.can_overlap


def forecast_of(pair: Pair, settings: Settings, *, beside: bool) -> Forecast:
    """What to expect of a way, with its own costs, as far as its last runs have borne them out. Raises DraftDied."""
    with the_way(pair, settings, beside=beside) as draft:
        costs, drift = cost_model(pair, draft, in_turn=not beside), drift_of(pair, in_turn=not beside)
    found = forecast(
        costs,
        chances_of(pair.draft.folder).places(),
        beside=beside,
        children=settings.tree_children,
        trees=pair.target.supports_tree,
        most=most_verified(settings),
    )
    return found._replace(speed=found.speed / drift)


def most_verified(settings: Settings) -> int:
    """How many tokens of the tree one verification may have."""
    return MOST_VERIFIED if settings.tree_budget == "auto" else settings.tree_budget


def costs_of(pair: Pair, settings: Settings, *, beside: bool) -> CostModel:
    """The costs of one way, on its cores. Raises DraftDied."""
    with the_way(pair, settings, beside=beside) as draft:
        return cost_model(pair, draft, in_turn=not beside)


def refine(pair: Pair, settings: Settings, *, beside: bool, stopped: Callable[[], bool] = bool) -> bool:
    """See `calibration.refine_costs`, of one way."""
    with the_way(pair, settings, beside=beside) as draft:
        return refine_costs(pair, draft, in_turn=not beside, stopped=stopped)


@contextmanager
def the_way(pair: Pair, settings: Settings, *, beside: bool) -> Iterator[Draft]:
    """The target on the cores that it has where they work beside each other or in turn, and the draft of that way."""
    shared = beside or settings.cores == "target"
    with on_cores(pair.cores.target if shared else pair.cores.all):
        yield running_draft(pair) if beside else draft_in_turn(pair)
