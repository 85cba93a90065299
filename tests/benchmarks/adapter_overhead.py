"""What watching costs other engines with the embedded target: watched and not, alternated.

    python -m tests.benchmarks.adapter_overhead [--prompts 4] [--rounds 4] [--tokens 32]

transformers with our draft as its assistant and with prompt look-up; llama.cpp with prompt look-up where
`llama-cpp-python` is installed. Medians over prompts.
"""

# llama-cpp-python is no requirement.
# pyright: reportMissingImports=false

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer

from duoviz.adapters import transformers_runs
from duoviz.folders import DRAFT_FOLDER
from duoviz.models.embedded import embedded_target
from duoviz.training.student import export_assistant
from tests.benchmarks.harness import HAS_LLAMA_CPP, alternated, arguments, questions
from tests.benchmarks.peers import CONTEXT, gguf_files

# What writes a text after a prompt, and what watches it.
Engine = tuple[Callable[[str], object], Callable[[], AbstractContextManager]]


def transformers_engines(tokens: int) -> Iterator[tuple[str, Engine]]:
    folder = embedded_target()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    with tempfile.TemporaryDirectory() as scratch:
        export_assistant(DRAFT_FOLDER, folder, Path(scratch))
        draft = AutoModelForCausalLM.from_pretrained(scratch)
    own = {"do_sample": False, "max_new_tokens": tokens, "min_new_tokens": tokens}

    def write(prompt: str, **options) -> None:
        model.generate(**tokenizer(prompt, return_tensors="pt"), **options, **own)

    watch = partial(transformers_runs.watch, model, tokenizer)
    yield "transformers, assisted", (partial(write, assistant_model=draft), watch)
    yield "transformers, prompt lookup", (partial(write, prompt_lookup_num_tokens=4), watch)


def llama_cpp_engines(tokens: int) -> Iterator[tuple[str, Engine]]:
    from llama_cpp import Llama
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    from duoviz.adapters import llama_cpp_runs

    lookup = LlamaPromptLookupDecoding(num_pred_tokens=4)
    llm = Llama(str(gguf_files()[1]), n_ctx=CONTEXT, verbose=False, draft_model=lookup)

    def write(prompt: str) -> None:
        llm.reset()
        llm(prompt, max_tokens=tokens, temperature=0.0)

    yield "llama.cpp, prompt lookup", (write, partial(llama_cpp_runs.watch, llm))


def seconds(engine: Engine, watched: bool, prompt: str) -> float:
    write, watch = engine
    start = time.perf_counter()
    with watch() if watched else nullcontext():
        write(prompt)
    return time.perf_counter() - start


def main() -> None:
    options = arguments(__doc__, prompts=4, rounds=4, tokens=32).parse_args()
    engines = dict(transformers_engines(options.tokens))
    if HAS_LLAMA_CPP:
        engines |= llama_cpp_engines(options.tokens)
    for title, engine in engines.items():
        works, factors = {watched: partial(seconds, engine, watched) for watched in (False, True)}, []
        for prompt in questions(1)[: options.prompts]:
            seconds(engine, False, prompt)
            found = alternated(works, [prompt] * options.rounds)
            factors.append(median(found[True]) / median(found[False]))
        each = ", ".join(f"{factor:.3f}" for factor in factors)
        print(f"{title}: watched takes {median(factors):.3f} times as long (by prompt: {each})", flush=True)


if __name__ == "__main__":
    main()
