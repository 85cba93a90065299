"""The plan of a run: everything that is decided about it, once, before it begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from duoviz.decoding.acceptance_table import AcceptanceTable, fitted_table
from duoviz.decoding.costs import CostModel
from duoviz.decoding.datastore import Datastore
from duoviz.decoding.engine import Engine
from duoviz.decoding.iteration import Room, room_for
from duoviz.decoding.method import Method
from duoviz.decoding.overlap import forecast_of, way_of
from duoviz.decoding.sampling import RejectionNoise
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.decoding.verification import Classical
from duoviz.decoding.way import Way
from duoviz.decoding.worker.protocol import DraftWorker, row_of_draft
from duoviz.models.language_model import LanguageModel
from duoviz.models.pair import Pair


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """One run of a method on a prompt.

    before: the conversation's earlier turns, as (what the user said, the answer). prompt_ids: token ids of it all.
    way: on which cores, beside or in turn. draft, costs: of the method's draft, in this way; table: how often it is
    right, None where that was not counted. patience: with which DuoTree's target waits for a draft beside it (see
    `duotree.policy`). classical: the rule of acceptance, None: coupled. datastore: REST's. stopped: the run's cancel
    token, asked in every long forward and wait.
    """

    method: Method
    pair: Pair
    settings: Settings
    prompt: str
    raw: bool
    before: tuple[tuple[str, str], ...]
    prompt_ids: tuple[int, ...]
    room: Room
    way: Way
    draft: DraftWorker | None
    costs: CostModel | None
    table: AcceptanceTable | None
    patience: float
    classical: Classical | None
    datastore: Datastore | None
    stopped: Callable[[], bool]

    @property
    def target(self) -> LanguageModel:
        return self.pair.target


def make_plan(
    engine: Engine,
    method: Method,
    prompt: str,
    settings: Settings,
    *,
    raw: bool = False,
    before: Sequence[tuple[str, str]] = (),
    stopped: Callable[[], bool] = bool,
) -> RunPlan:
    """Decide how a run goes; starts the draft and measures the costs, where the method needs them.

    Raises PromptError, SettingsError, DatastoreError and DraftDied.
    """
    pair = engine.pair
    prompt_ids = pair.encode(prompt, raw=raw, before=before)
    if method.trees and not pair.target.supports_tree:
        raise SettingsError(
            f"{method.title} needs a target that reads several continuations at once, and {pair.target.label} "
            "reads one only: choose another method or another target."
        )
    way = way_of(engine, method, settings)
    draft = costs = classical = None
    if method.draft:
        draft, costs = engine.draft(beside=way.beside), engine.costs(way).model()
    if draft and method.classical_rule and settings.by_rejection:
        classical = Classical(RejectionNoise(settings.seed), row_of_draft(draft, pair.target.vocab_size))
    follows_tree = way.beside and "overlap" in method.settings
    return RunPlan(
        method=method,
        pair=pair,
        settings=settings,
        prompt=prompt,
        raw=raw,
        before=tuple(before),
        prompt_ids=tuple(prompt_ids),
        room=room_for(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit),
        way=way,
        draft=draft,
        costs=costs,
        table=fitted_table(pair.draft.folder) if method.draft else None,
        patience=forecast_of(engine, settings, way).patience if follows_tree else 1.0,
        classical=classical,
        datastore=engine.datastore(settings.rest_datastore) if "rest_datastore" in method.settings else None,
        stopped=stopped,
    )
