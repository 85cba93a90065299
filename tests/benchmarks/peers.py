"""duoviz beside transformers' generate and llama.cpp, all taking turns on the same prompts, greedy.

    python -m tests.benchmarks.peers [--prompts 14] [--max-new-tokens 96] [--methods NAME,…]
                                     [--contexts 500,4000] [--python]

transformers runs in float32: plain and with prompt look-up. llama.cpp runs where `llama-cpp-python` is installed: the
same float32 numbers on all cores and on one, and its own 4-bit weights. With --contexts the prompts are so many tokens
of this project's documentation, with --python of Python's help topics; then only llama.cpp in float32 on all cores
takes part.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from duoviz import Engine, runner, runs
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.models.cache import cache_folder
from duoviz.models.cores import on_cores
from duoviz.models.embedded import GGUF_NAME, embedded_target, fetch_gguf
from duoviz.models.pair import Pair
from duoviz.models.progress import no_progress
from tests.benchmarks.harness import HAS_LLAMA_CPP, alternated, arguments, beginnings, machine, over, questions, spread
from tests.release.pages import markdown

METHODS = "speculative,duodecoding,duotree"
PEER, ONE_CORE = "llama.cpp, float32", ", one core"
# llama.cpp's slots beside a prompt's.
CONTEXT = 2048


class Written(NamedTuple):
    """A text: its tokens, seconds to the first of them (None where not seen) and to the last, tokens a forward."""

    ids: list[int]
    first: float | None
    seconds: float
    tau: float = 1.0

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return len(self.ids) / self.seconds

    @property
    def speed_after_first(self) -> float:
        return (len(self.ids) - 1) / (self.seconds - self.first)


# What writes a text after a prompt.
Peer = Callable[[str], Written]


def transformers_peers(pair: Pair, count: int) -> dict[str, Peer]:
    """transformers.generate, greedy, float32, on all cores; count: of new tokens."""
    model = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()

    def write(prompt: str, **options) -> Written:
        with on_cores(pair.cores.all):
            start = time.perf_counter()
            ids = pair.encode(prompt)
            out = model.generate(torch.tensor([ids]), max_new_tokens=count, do_sample=False, **options)
            return Written(out[0, len(ids) :].tolist(), None, time.perf_counter() - start)

    return {
        "transformers": write,
        "transformers, prompt lookup": partial(write, prompt_lookup_num_tokens=10, max_matching_ngram_size=3),
    }


def gguf_files() -> tuple[Path, Path]:
    """The embedded target as it is fetched, for llama.cpp, and with its numbers in float32."""
    import llama_cpp

    folder = cache_folder() / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    given = folder / GGUF_NAME if (folder / GGUF_NAME).exists() else fetch_gguf(folder, no_progress)
    floats = given.with_suffix(".float32.gguf")
    if not floats.exists():
        options = llama_cpp.llama_model_quantize_default_params()
        options.ftype, options.allow_requantize = llama_cpp.LLAMA_FTYPE_ALL_F32, True
        part = floats.with_suffix(".part")
        if llama_cpp.llama_model_quantize(str(given).encode(), str(part).encode(), options):
            raise RuntimeError(f"llama.cpp could not write {floats}")
        part.replace(floats)
    return given, floats


def llama_cpp_peers(pair: Pair, count: int, context: int) -> Iterator[tuple[str, Peer]]:
    """llama.cpp, greedy, each on as many threads as it has cores; context: the longest prompt's tokens."""
    import llama_cpp

    given, floats = gguf_files()

    def write(model, cores: tuple[int, ...], prompt: str) -> Written:
        tokens, times = list[int](), list[float]()
        with on_cores(cores):
            start = time.perf_counter()
            new = pair.encode(prompt)
            model.reset()
            while len(tokens) < count and not (tokens and tokens[-1] in pair.eos):
                model.eval(new)
                logits = llama_cpp.llama_get_logits_ith(model.ctx, -1)
                new = [int(np.ctypeslib.as_array(logits, (model.n_vocab(),)).argmax())]
                tokens += new
                times.append(time.perf_counter() - start)
        return Written(tokens, times[0], times[-1])

    one = pair.cores.all[-1:]
    for name, file, cores in (
        (PEER, floats, pair.cores.all), (PEER + ONE_CORE, floats, one), ("llama.cpp, Q4_1", given, pair.cores.all),
    ):  # fmt: skip
        options = {"n_ctx": context + CONTEXT, "n_threads": len(cores), "n_threads_batch": len(cores)}
        yield name, partial(write, llama_cpp.Llama(str(file), verbose=False, **options), cores)


def bases_of(name: str, found: dict[str, list[Written]]) -> tuple[list[Written], list[Written]]:
    """What vanilla and llama.cpp wrote on as many cores."""
    one = ONE_CORE if name.endswith(ONE_CORE) else ""
    return found["vanilla" + one], found.get(PEER + one, [])


HEADS = ["", "tokens/s", "over vanilla", f"over {PEER}", "vanilla's very text", "first token, s", f"over {PEER}",
         "tokens/s after it", "over vanilla", "τ"]  # fmt: skip


def report(found: dict[str, list[Written]]) -> str:
    """Each lane's medians over prompts, how many times the others' they are, and how often its text is vanilla's."""
    lines = []
    for name, mine in found.items():
        vanilla, peer = bases_of(name, found)
        speeds = [[each.speed for each in written] for written in (mine, vanilla, peer)]
        same = sum(one.ids == base.ids for one, base in zip(mine, found["vanilla"], strict=True))
        line = [name, f"{median(speeds[0]):.1f}", *(over(speeds[0], base) for base in speeds[1:])]
        line += [f"{same} of {len(mine)}"]
        if all(each.first is not None and len(each.ids) > 1 for each in (*mine, *vanilla)):
            firsts = [[each.first for each in written] for written in (mine, peer)]
            after = [[each.speed_after_first for each in written] for written in (mine, vanilla)]
            line += [f"{median(firsts[0]):.2f}", over(*firsts), f"{median(after[0]):.1f}", over(*after)]
            line += [f"{median(each.tau for each in mine):.2f}"]
        lines.append(line + ["–"] * (len(HEADS) - len(line)))
    return markdown(HEADS, lines)


def ours(engine: Engine, lane: runner.Lane, prompt: str) -> Written:
    (row,) = runner.compare(engine, [prompt], [lane], warmups=0)
    figures = row["metrics"]
    return Written(row["token_ids"], figures["ttft"], figures["wall"], figures["tau"])


def main() -> None:
    options = arguments(__doc__, prompts=14, max_new_tokens=96, methods=METHODS, contexts="", python=False).parse_args()
    engine, count = load_engine(), options.max_new_tokens
    contexts = [int(context) for context in options.contexts.split(",") if context]
    lanes = runs.lanes(options.methods.split(","), Settings(max_new_tokens=count))
    lanes[1] = runner.Lane("vanilla" + ONE_CORE, "vanilla", replace(lanes[1].settings, cores="target"))
    works = {lane.name: partial(ours, engine, lane) for lane in lanes}
    works |= {} if contexts else transformers_peers(engine.pair, count)
    if HAS_LLAMA_CPP:
        peers = llama_cpp_peers(engine.pair, count, max(contexts, default=0))
        works |= {name: peer for name, peer in peers if name == PEER or not contexts}
    llama_cpp = version("llama-cpp-python") if HAS_LLAMA_CPP else "not installed"
    print(f"{machine(engine.pair)}, llama-cpp-python {llama_cpp}, {options.prompts} prompts, {count} tokens")
    asked = {f"{context} tokens": beginnings(engine.pair, context, options.prompts, python=options.python)
             for context in contexts}  # fmt: skip
    for title, prompts in (asked or {"questions": spread(questions(6), options.prompts)}).items():
        alternated(works, prompts[:1])
        found = alternated(works, prompts)
        print(f"\n{title}\n\n{report(found)}")


if __name__ == "__main__":
    main()
