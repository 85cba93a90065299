"""Runs of llama.cpp, through llama-cpp-python, as traces: with a `draft_model` or without."""
# That package is no requirement: who wants its runs installs it.
# pyright: reportMissingImports=false

import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import llama_cpp
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

from duoviz.adapters.builder import Drafted, TraceBuilder
from duoviz.decoding.method import DRAFT, PROMPT


@contextmanager
def watch(llm: llama_cpp.Llama) -> Iterator[list[dict]]:
    """Within it each text that the model writes (`llm(…)`, `create_chat_completion`, `generate`) adds its trace.

    The tokens are those of the engine's own loop. It gives no probabilities, so p and q are None. How many tokens were
    to be written is not known there: the trace says how many were.
    """
    traces: list[dict] = []
    generate, evaluate, draft = llm.generate, llm.eval, llm.draft_model
    run = Run([], None)

    def watched(tokens: Sequence[int], *args: Any, **options: Any) -> Generator[int, Any]:
        nonlocal run
        run = Run(list(tokens), draft)
        engine, sent = generate(tokens, *args, **options), None
        try:
            while True:
                token = engine.send(sent)  # pyright: ignore
                run.iterations[-1]["committed"].append(token)
                sent = yield token
        except StopIteration:
            return
        finally:
            if any(each["committed"] for each in run.iterations):
                traces.append(run.trace(llm))

    def watched_eval(tokens: Sequence[int]) -> None:
        checked, start = [int(token) for token in tokens], time.perf_counter()
        evaluate(tokens)
        run.begin(checked, (start, time.perf_counter()))

    def watched_draft(ids: Any, /, **options: Any) -> Any:
        start = time.perf_counter()
        drafted = draft(ids, **options)  # pyright: ignore
        run.draft_seconds = [(start, time.perf_counter())]
        return drafted

    llm.generate, llm.eval = watched, watched_eval  # pyright: ignore
    llm.draft_model = watched_draft if draft is not None else None  # pyright: ignore
    try:
        yield traces
    finally:
        del llm.generate, llm.eval
        llm.draft_model = draft


class Run:
    """One text: its iterations, each from one `eval` to the next."""

    def __init__(self, prompt_ids: list[int], draft: Any):
        self.prompt_ids, self.draft = prompt_ids, draft
        self.submitted = time.perf_counter()
        self.draft_seconds = list[tuple[float, float]]()
        self.iterations = list[dict]()

    def begin(self, tokens: list[int], seconds: tuple[float, float]) -> None:
        """A forward of the target was made: over the prompt, later over the text's last token and what was drafted."""
        ids = tokens[1:] if self.iterations else []
        drafting = self.draft_seconds if ids else []
        self.iterations.append({"committed": [], "ids": ids, "target_seconds": seconds, "draft_seconds": drafting})

    def trace(self, llm: llama_cpp.Llama) -> dict:
        lookup = isinstance(self.draft, LlamaPromptLookupDecoding)
        proposer = None if self.draft is None else PROMPT if lookup else DRAFT
        written = [token for each in self.iterations for token in each["committed"]]
        builder = TraceBuilder(
            engine="llama.cpp",
            method="plain" if proposer is None else "prompt lookup" if lookup else "draft model",
            tokenizer=Tokenizer(llm),
            prompt=Tokenizer(llm).decode(self.prompt_ids, skip_special_tokens=False),
            prompt_ids=self.prompt_ids,
            max_new_tokens=len(written),
            target={"name": os.path.basename(llm.model_path)},
            draft={"name": type(self.draft).__name__} if proposer is DRAFT else None,
            proposer=proposer,
            engine_version=f"llama-cpp-python {llama_cpp.__version__}",
            submitted=self.submitted,
        )
        for each in self.iterations:
            # A guess that was rejected is never what stands there instead.
            accepted = len(os.path.commonprefix([each["committed"], ids := each.pop("ids")]))
            builder.add(**each, drafted=[Drafted(id=id) for id in ids], accepted=accepted)
        return builder.trace(stopped="eos" if written[-1] == llm.token_eos() else "length")


class Tokenizer:
    """The model's tokenizer, as a `TraceBuilder` calls it."""

    def __init__(self, llm: llama_cpp.Llama):
        self.llm = llm

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        return self.llm.detokenize(list(ids), special=not skip_special_tokens).decode("utf-8", "replace")

    def __call__(self, text: str, *, add_special_tokens: bool = False) -> dict[str, list[int]]:
        return {"input_ids": self.llm.tokenize(text.encode(), add_bos=add_special_tokens)}
