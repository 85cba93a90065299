"""Tiny random models and pairs, made in the test."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NoReturn

import torch

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.costs import ROW_COUNTS, CostModel, Costs
from duoviz.decoding.drafter import Drafter
from duoviz.decoding.engine import Engine
from duoviz.decoding.forward import Stopped
from duoviz.decoding.iteration import Iteration, length_limit
from duoviz.decoding.loop import decode
from duoviz.decoding.placement import Placement
from duoviz.decoding.plan import RunPlan, make_plan
from duoviz.decoding.settings import Settings
from duoviz.models.cores import Cores, available_cores
from duoviz.models.pair import DraftSource, Pair
from tests.callers_draft import CallersDraft
from tests.weights import VOCABULARY, decoder, near_copy, tiny_weights

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedModel

# Tiny products gain nothing from threads, and lose much where another process is busy.
torch.set_num_threads(1)
# Nor do the tiny pairs of two test processes use the same core.
CORE = available_cores()[int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % len(available_cores())]


@cache
def reference_model(seed: int) -> LlamaForCausalLM:
    """The tiny Llama of these weights in transformers, in float64."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config, tensors = tiny_weights(seed)
    model = exact(LlamaForCausalLM(LlamaConfig(**config, attn_implementation="sdpa")))
    model.load_state_dict(tensors)
    return model


def exact(model: PreTrainedModel) -> PreTrainedModel:
    """The model in float64; its norms too, which transformers would round to float32."""
    model = model.double().eval()
    for name, module in list(model.named_modules()):
        if name.endswith("norm"):
            norm = torch.nn.RMSNorm(len(module.weight), eps=module.variance_epsilon, dtype=torch.float64)
            model.set_submodule(name, norm)
    return model


class DigitTokenizer:
    """Token n is the text `<n>`."""

    eos_token_id = 1

    def get_vocab(self):
        return {f"<{id}>": id for id in range(VOCABULARY)}

    def decode(self, ids, skip_special_tokens=True):
        return "".join(f"<{id}>" for id in ids if not (skip_special_tokens and id == self.eos_token_id))

    def __call__(self, text, add_special_tokens=False):
        return {"input_ids": [2 + ord(letter) % (VOCABULARY - 2) for letter in text]}

    def render(self, chat):
        return "".join(message["content"] for message in chat)


def tiny_engine(*, seed: int = 0, noise: float = 0.15, eos: frozenset = frozenset(), context: int = 256) -> Engine:
    """A float64 pair whose draft runs inline; costs are made up, so that γ = auto is about 6."""
    weights = tiny_weights(seed, context=context)
    draft = CallersDraft(decoder(*near_copy(weights, noise)))
    pair = Pair(
        name="tiny",
        target=decoder(*weights),
        tokenizer=DigitTokenizer(),
        eos=eos,
        cores=Cores(target=(CORE,), draft=(CORE,)),
        draft=DraftSource(load=lambda **options: draft.model, label="tiny draft", precision="float64"),
    )
    engine = Engine(pair, draft=draft)
    engine.draft_in_turn = draft
    give_costs(engine, made_up_costs([6 + 0.2 * rows for rows in ROW_COUNTS], [1 + 0.1 * k for k in range(8)]))
    return engine


def give_costs(engine: Engine, beside: CostModel, in_turn: CostModel | None = None) -> None:
    """Costs that are not measured, in every placement of the engine's cores."""
    cores = engine.pair.cores
    placements = [
        Placement(True, cores.target),
        Placement(True, cores.target, cores.draft),
        Placement(False, cores.target),
        Placement(False, cores.all),
    ]
    for placement in placements:
        model = beside if placement.beside else in_turn or beside
        engine.kept_costs[placement] = GivenCosts(model)


class GivenCosts(Costs):
    """Costs that no forward changes."""

    def __init__(self, model: CostModel):
        super().__init__()
        self.given, self.target.count, self.draft.count = model, 1, 1

    @property
    def model(self) -> CostModel:
        return self.given

    def observe(self, target, draft) -> None:
        pass


def change_pair(engine: Engine, **changes) -> Engine:
    """The engine, with another of its pair's parts; made-up costs go with the cores."""
    costs = engine.known_costs(Placement(True, engine.pair.cores.target)).model
    engine.pair = replace(engine.pair, **changes)
    give_costs(engine, costs)
    return engine


def run(
    engine: Engine,
    method: str,
    prompt_ids: Sequence[int],
    settings: Settings = Settings(),
    *,
    stopped: Callable[[], bool] = bool,
) -> Iterator[Iteration]:
    """A run on these token ids."""
    # A prompt of one token, which targets with few know too.
    plan = make_plan(engine, METHODS[method], "&", settings, stopped=stopped)
    limit = length_limit(len(prompt_ids), settings.max_new_tokens, plan.target.context_limit)
    return decode(replace(plan, prompt_ids=tuple(prompt_ids), length_limit=limit))


def traced(
    engine: Engine, method: str = "duodecoding", prompt: str = "hello", *, raw: bool = False, **settings
) -> dict:
    """The trace of a run with these settings."""
    return runner.collect(runner.stream(engine, method, prompt, Settings(**settings), raw=raw))


def made_up_costs(target: Sequence[float], draft: Sequence[float]) -> CostModel:
    """Costs in this proportion, at any context: of the target's forwards by ROW_COUNTS, of the draft's steps by k.

    No forward changes them, so γ = auto is the same on every machine.
    """
    target, draft = (tuple(10.0 * share for share in shares) for shares in (target, draft))
    return CostModel((target, target), (draft, draft))


def held_engine(over: Callable[[], bool], *, after: int = 40, **options) -> Engine:
    """A tiny engine whose target waits, in each run, after so many forwards until the run is over.

    So a run of `after` tokens at most ends by itself, and a longer one only when it is stopped or its
    time is over, however fast the machine is. over: whether its place is to end it.
    """
    engine = tiny_engine(**{"context": 8192} | options)
    forward, crop, made = engine.pair.target.forward, engine.pair.target.crop, []

    def held(*arguments, **named):
        made.append(1)
        while len(made) > after and not over():
            time.sleep(0.002)
        return forward(*arguments, **named)

    def begin(length):
        if length == 0:
            made.clear()
        crop(length)

    engine.pair.target.forward, engine.pair.target.crop = held, begin
    return engine


def endless(plan: RunPlan) -> NoReturn:
    """In place of a method's drafter: writes nothing until it is stopped."""
    while not plan.stopped():
        time.sleep(0.002)
    raise Stopped


def draft_with(monkeypatch, method, drafter):
    """Let a method have this drafter for one test."""
    monkeypatch.setitem(METHODS, method, replace(METHODS[method], drafter=drafter))


class Failing(Drafter):
    """Proposes nothing, and after so many tokens raises the error."""

    def __init__(self, error: Exception, *, after: int):
        self.error, self.left = error, after

    def observe(self, text, iteration, target_tokens) -> None:
        if not self.left:
            raise self.error
        self.left -= 1
