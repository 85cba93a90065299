"""Runs of transformers' `generate` as traces: assisted by a model or by prompt lookup, or plain."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

import torch
import transformers
from transformers import StoppingCriteria

from duoviz.adapters.builder import Drafted, TraceBuilder
from duoviz.decoding.method import DRAFT, PROMPT
from duoviz.errors import UserError


@contextmanager
def watch(model: Any, tokenizer: Any) -> Iterator[list[dict]]:
    """Within it each call of the model's `generate` adds its run's trace to the list, and gives what it always gives.

    One prompt and one text a call, greedy or sampled. A draft's time is that of all its forwards together. p and q are
    those that the engine compares; q is None where what drafts has no probabilities. Raises UserError for several
    prompts or texts, for beams, and for an encoder-decoder.
    """
    traces: list[dict] = []
    generate, candidate_generator = model.generate, model._get_candidate_generator
    config = model.generation_config
    run: Run | None = None

    def watched(inputs: torch.Tensor | None = None, **options: Any) -> Any:
        nonlocal run
        # A model that drafts with its own first layers calls itself.
        if run is not None:
            return generate(inputs, **options)
        ids = options.get("input_ids") if inputs is None else inputs
        several = [options.get(name) or getattr(config, name) or 1 for name in ("num_beams", "num_return_sequences")]
        if ids is None or len(ids) != 1 or max(several) > 1 or model.config.is_encoder_decoder:
            raise UserError(
                "A trace shows one run of a decoder: call generate with the token ids of one prompt, for one text "
                "without beams."
            )
        run = seen = Run(ids[0].tolist())
        criteria = [*(options.pop("stopping_criteria", None) or ()), seen]
        try:
            return generate(inputs, **options, stopping_criteria=criteria)
        finally:
            run = None
            if seen.iterations:
                traces.append(seen.trace(model, tokenizer, options))

    def watched_generator(**options: Any) -> Any:
        generator = candidate_generator(**options)
        if run:
            run.watch(generator)
        return generator

    model.generate, model._get_candidate_generator = watched, watched_generator
    try:
        yield traces
    finally:
        del model.generate, model._get_candidate_generator


class Run(StoppingCriteria):
    """One call of `generate`, which asks it after each iteration whether to stop; it never says so."""

    def __init__(self, prompt_ids: list[int]):
        self.prompt_ids, self.length = prompt_ids, len(prompt_ids)
        self.submitted = self.ready = time.perf_counter()
        self.verified: float | None = None
        self.candidates, self.p, self.q = list[int](), list[float](), list[float]()
        self.draft_seconds = list[tuple[float, float]]()
        self.iterations = list[dict]()

    def watch(self, generator: Any) -> None:
        """Record what a candidate generator proposes, and the probabilities with which it is verified."""
        propose, update = generator.get_candidates, generator.update_candidate_strategy

        def watched_proposal(input_ids: torch.Tensor, *args: Any, **options: Any) -> Any:
            start = time.perf_counter()
            ids, logits = propose(input_ids, *args, **options)
            self.candidates = ids[0, input_ids.shape[1] :].tolist()
            self.ready = time.perf_counter()
            self.draft_seconds = [(start, self.ready)] if self.candidates else []
            self.q = [] if logits is None else probabilities(logits, self.candidates)
            return ids, logits

        def watched_update(input_ids: torch.Tensor, scores: torch.Tensor, matches: int) -> None:
            self.verified = time.perf_counter()
            self.p = probabilities(scores, self.candidates[: int(matches) + 1])
            update(input_ids, scores, matches)

        generator.get_candidates, generator.update_candidate_strategy = watched_proposal, watched_update

    def __call__(self, input_ids: torch.LongTensor, scores: Any, **options: Any) -> torch.BoolTensor:  # pyright: ignore
        now = self.verified or time.perf_counter()
        committed = input_ids[0, self.length :].tolist()
        self.length += len(committed)
        self.iterations.append(
            {
                "committed": committed,
                # A guess that was rejected is never what stands there instead.
                "accepted": len(os.path.commonprefix([committed, self.candidates])),
                "drafted": [Drafted(id=id, q=q, p=p) for id, q, p in zip_longest(self.candidates, self.q, self.p)],
                "target_seconds": (self.ready, now),
                "draft_seconds": self.draft_seconds,
            }
        )
        self.candidates, self.p, self.q, self.draft_seconds, self.verified = [], [], [], [], None
        self.ready = time.perf_counter()
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)  # pyright: ignore

    def trace(self, model: Any, tokenizer: Any, options: dict) -> dict:
        """The trace of what was seen; options: those of the call."""
        assistant = options.get("assistant_model")
        config = options.get("generation_config") or model.generation_config
        lookup = options.get("prompt_lookup_num_tokens") or config.prompt_lookup_num_tokens
        drafts = any(each["drafted"] for each in self.iterations)
        proposer = PROMPT if lookup else DRAFT if assistant is not None or drafts else None
        most = options.get("max_new_tokens") or config.max_new_tokens or config.max_length - len(self.prompt_ids)
        builder = TraceBuilder(
            engine="transformers",
            method="plain" if proposer is None else "prompt lookup" if lookup else "assisted",
            tokenizer=tokenizer,
            prompt=tokenizer.decode(self.prompt_ids, skip_special_tokens=False),
            prompt_ids=self.prompt_ids,
            max_new_tokens=most,
            target=facts(model),
            draft=None if assistant is None else facts(assistant),
            proposer=proposer,
            engine_version=transformers.__version__,
            submitted=self.submitted,
        )
        for iteration in self.iterations:
            builder.add(**iteration)
        written = self.length - len(self.prompt_ids)
        return builder.trace(stopped="length" if written >= most else "eos")


def probabilities(logits: torch.Tensor, ids: Sequence[int]) -> list[float]:
    """Of each of these tokens at its position; logits: [1, at least as many, vocabulary]."""
    rows = logits[0, : len(ids)].softmax(-1)
    return rows[torch.arange(len(ids)), torch.tensor(ids, dtype=torch.long)].tolist()


def facts(model: Any) -> dict[str, str]:
    """A model for the trace's header."""
    name = os.path.basename(model.name_or_path) or type(model).__name__
    return {"name": name, "device": str(model.device), "precision": str(model.dtype).removeprefix("torch.")}
