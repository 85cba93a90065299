"""The plan of a run: everything that is decided about it, once, before it begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from duoviz.decoding.acceptance_table import AcceptanceTable, fitted_table
from duoviz.decoding.costs import Costs
from duoviz.decoding.datastore import Datastore
from duoviz.decoding.drafting import row_of_draft
from duoviz.decoding.engine import Engine
from duoviz.decoding.iteration import LengthLimit, length_limit
from duoviz.decoding.method import Method
from duoviz.decoding.placement import Placement
from duoviz.decoding.sampling import RejectionNoise
from duoviz.decoding.settings import Settings
from duoviz.decoding.verification import Classical
from duoviz.decoding.worker.protocol import DraftWorker
from duoviz.errors import UserError
from duoviz.models.language_model import LanguageModel
from duoviz.models.pair import Pair


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """One run of a method on a prompt.

    before: the conversation's earlier turns, as (user's message, answer). prompt_ids: token ids of all of it.
    placement: where the run computes. other: placement to probe occasionally (None if the user fixed the cores).
    alone: placement while no draft runs. costs_of: a placement's costs. table: the draft's acceptance, None if it was
    not counted. classical: the classical acceptance rule, None: coupled. stopped: asked in every long forward and
    wait. notes: sentences about the run for its end.
    """

    method: Method
    pair: Pair
    settings: Settings
    prompt: str
    raw: bool
    before: tuple[tuple[str, str], ...]
    prompt_ids: tuple[int, ...]
    length_limit: LengthLimit
    placement: Placement
    other: Placement | None
    alone: Placement
    costs_of: Callable[[Placement], Costs]
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
        return self.costs_of(self.placement)


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
    """Decide how a run goes; start the draft and measure the costs, where the method needs them.

    Raises UserError.
    """
    pair = engine.pair
    prompt_ids = pair.encode(prompt, raw=raw, before=before)
    if method.trees and not pair.target.supports_tree:
        raise UserError(
            f"{method.title} checks several continuations at once, and {pair.target.label} reads only one: "
            "choose another method or another target."
        )
    placement = placement_of(engine, method, settings)
    draft = classical = None
    if method.draft:
        draft = engine.draft(beside=placement.beside)
        engine.known_costs(placement, stopped=stopped)
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
        length_limit=length_limit(len(prompt_ids), settings.max_new_tokens, pair.target.context_limit),
        placement=placement,
        other=other_cores(engine, placement) if settings.cores == "auto" else None,
        alone=engine.alone(),
        costs_of=engine.costs,
        draft=draft,
        table=fitted_table(pair.draft.folder) if method.draft else None,
        classical=classical,
        datastore=engine.datastore(settings.rest_datastore) if "rest_datastore" in method.settings else None,
        stopped=stopped,
    )


def placement_of(engine: Engine, method: Method, settings: Settings) -> Placement:
    """A run's placement, by the method and the settings.

    Where these leave it open, the draft takes turns with a target on the CPU, and works beside one on a GPU.
    """
    cores, beside = engine.pair.cores, method.parallel
    if "overlap" in method.settings:
        on_gpu = engine.pair.target.device != "cpu" and cores.can_overlap
        beside = on_gpu if settings.overlap == "auto" else settings.overlap == "beside"
    if beside:
        return Placement(True, cores.target, borrowed_cores(engine, settings) if method.parallel else ())
    if settings.cores == "auto":
        return engine.alone()
    return Placement(False, cores.target if settings.cores == "target" else cores.all)


def borrowed_cores(engine: Engine, settings: Settings) -> tuple[int, ...]:
    """The draft's cores, if the target takes them over once the draft is done.

    Not in the authors' mode (`paper`), nor where more cores are no faster now.
    """
    cores = engine.pair.cores
    possible = engine.pair.target.joinable and cores.can_overlap and settings.draft_mode == "batched"
    return cores.draft if possible and engine.alone().cores == cores.all else ()


def other_cores(engine: Engine, placement: Placement) -> Placement | None:
    """The same on the other set of cores; None where there is no choice."""
    cores = engine.pair.cores
    if placement.beside or engine.pair.target.device != "cpu" or cores.all == cores.target:
        return None
    return Placement(False, cores.target if placement.cores == cores.all else cores.all)
