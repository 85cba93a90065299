"""The plan of a run: everything that is decided about it, once, before it begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from duoviz.decoding.acceptance_table import AcceptanceTable, fitted_table
from duoviz.decoding.costs import Costs
from duoviz.decoding.datastore import Datastore
from duoviz.decoding.engine import Engine
from duoviz.decoding.iteration import Room, room_for
from duoviz.decoding.method import Method
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
    way: on which cores, beside or in turn; costs: what forwards take in it. other: the way on other cores that is tried
    now and then, None where the cores are given; alone: that of a target which does not wait for a draft. costs_of
    gives the costs of these. draft: the method's; table: how often it is right, None where that was not counted.
    classical: the rule of acceptance, None: coupled. datastore: REST's. stopped: the run's cancel token, asked in
    every long forward and wait. notes: sentences on what became of the run, for its end.
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
    other: Way | None
    alone: Way
    costs_of: Callable[[Way], Costs]
    draft: DraftWorker | None
    table: AcceptanceTable | None
    classical: Classical | None
    datastore: Datastore | None
    stopped: Callable[[], bool]
    notes: list[str] = field(default_factory=list)

    @property
    def target(self) -> LanguageModel:
        return self.pair.target

    @property
    def costs(self) -> Costs:
        return self.costs_of(self.way)


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

    Raises UserError, SettingsError, DatastoreError and DraftDied.
    """
    pair = engine.pair
    prompt_ids = pair.encode(prompt, raw=raw, before=before)
    if method.trees and not pair.target.supports_tree:
        raise SettingsError(
            f"{method.title} checks several continuations at once, and {pair.target.label} reads only one: "
            "choose another method or another target."
        )
    way = way_of(engine, method, settings)
    draft = classical = None
    if method.draft:
        draft = engine.draft(beside=way.beside)
        engine.known_costs(way, stopped=stopped)
    if draft and method.classical_rule and settings.by_rejection:
        classical = Classical(RejectionNoise(settings.seed), row_of_draft(draft, pair.target.vocab_size))
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
        other=other_cores(engine, way) if settings.cores == "auto" else None,
        alone=engine.alone(),
        costs_of=engine.costs,
        draft=draft,
        table=fitted_table(pair.draft.folder) if method.draft else None,
        classical=classical,
        datastore=engine.datastore(settings.rest_datastore) if "rest_datastore" in method.settings else None,
        stopped=stopped,
    )


def way_of(engine: Engine, method: Method, settings: Settings) -> Way:
    """The way of a run, as the method or the settings say.

    Else the draft works in turn with a target on the processor, whose cores it would take, and beside one on a GPU.
    """
    cores, beside = engine.pair.cores, method.parallel
    if "overlap" in method.settings:
        on_gpu = engine.pair.target.device != "cpu" and cores.can_overlap
        beside = on_gpu if settings.overlap == "auto" else settings.overlap == "beside"
    if beside:
        return Way(True, cores.target, lent_cores(engine, settings) if method.parallel else ())
    if settings.cores == "auto":
        return engine.alone()
    return Way(False, cores.target if settings.cores == "target" else cores.all)


def lent_cores(engine: Engine, settings: Settings) -> tuple[int, ...]:
    """The draft's cores, where the target is to go on with them once the draft is done.

    They stay idle in the authors' mode, and where more cores are no faster now.
    """
    cores = engine.pair.cores
    possible = engine.pair.target.joinable and cores.can_overlap and settings.draft_mode == "batched"
    return cores.draft if possible and engine.alone().cores == cores.all else ()


def other_cores(engine: Engine, way: Way) -> Way | None:
    """The way on the cores that a target in turn does not have now; None where it has no choice."""
    cores = engine.pair.cores
    if way.beside or engine.pair.target.device != "cpu" or cores.all == cores.target:
        return None
    return Way(False, cores.target if way.cores == cores.all else cores.all)
