"""duoviz beside transformers' generate and llama.cpp, all on one prompt after the other: tokens a second, greedy.

    python -m tests.benchmarks.peers [--prompts 14] [--max-new-tokens 96] [--methods NAME,…]

transformers runs in float32: plain, with prompt look-up and with our draft as its assistant. llama.cpp runs where
`llama-cpp-python` is installed: the same float32 numbers on all cores and on one, and its own 4-bit weights. Medians
over prompts; the ratios are to what has as many cores, on the same prompt.
"""

import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from duoviz import runner, runs
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.folders import DRAFT_FOLDER
from duoviz.models.cache import cache_folder
from duoviz.models.cores import on_cores
from duoviz.models.embedded import GGUF_NAME, embedded_target, fetch_gguf
from duoviz.models.pair import Pair
from duoviz.models.progress import no_progress
from duoviz.training.student import export_assistant
from tests.benchmarks.harness import alternated, arguments, machine, questions, spread
from tests.release.pages import markdown

METHODS = "speculative,duodecoding,duotree"
PEER, ONE_CORE = "llama.cpp, float32", ", one core"
# The γ of transformers' assistant; of a warm-up, tokens; and of llama.cpp, slots.
BUDGET, WARM_UP, CONTEXT = 5, 16, 2048

# From a prompt and how many tokens are wanted, the tokens written and tokens a second.
Written = tuple[list[int], float]
Peer = Callable[[str, int], Written]


def transformers_peers(pair: Pair) -> Iterator[tuple[str, Peer]]:
    """transformers.generate, greedy, float32, on all cores."""
    model = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
    with tempfile.TemporaryDirectory() as folder:
        export_assistant(DRAFT_FOLDER, embedded_target(), Path(folder))
        assistant = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    # It drafts BUDGET tokens whatever it thinks of them.
    assistant.generation_config.num_assistant_tokens = BUDGET
    assistant.generation_config.num_assistant_tokens_schedule = "constant"
    assistant.generation_config.assistant_confidence_threshold = 0.0

    def write(prompt: str, count: int, **options) -> Written:
        with on_cores(pair.cores.all):
            start = time.perf_counter()
            ids = pair.encode(prompt)
            out = model.generate(torch.tensor([ids]), max_new_tokens=count, do_sample=False, **options)
            seconds = time.perf_counter() - start
        tokens = out[0, len(ids) :].tolist()
        return tokens, len(tokens) / seconds

    yield "transformers", write
    yield "transformers, prompt lookup", partial(write, prompt_lookup_num_tokens=10, max_matching_ngram_size=3)
    yield f"transformers, assistant γ={BUDGET}", partial(write, assistant_model=assistant)


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


def llama_cpp_peers(pair: Pair) -> Iterator[tuple[str, Peer]]:
    """llama.cpp, greedy, each on as many threads as it has cores."""
    import llama_cpp

    given, floats = gguf_files()

    def write(model, cores: tuple[int, ...], prompt: str, count: int) -> Written:
        tokens: list[int] = []
        with on_cores(cores):
            start = time.perf_counter()
            new = pair.encode(prompt)
            model.reset()
            while len(tokens) < count and not (tokens and tokens[-1] in pair.eos):
                model.eval(new)
                logits = llama_cpp.llama_get_logits_ith(model.ctx, -1)
                new = [int(np.ctypeslib.as_array(logits, (model.n_vocab(),)).argmax())]
                tokens += new
            return tokens, len(tokens) / (time.perf_counter() - start)

    one = pair.cores.all[-1:]
    for name, file, cores in (
        (PEER, floats, pair.cores.all), (PEER + ONE_CORE, floats, one), ("llama.cpp, Q4_1", given, pair.cores.all),
    ):  # fmt: skip
        threads = {"n_threads": len(cores), "n_threads_batch": len(cores)}
        yield name, partial(write, llama_cpp.Llama(str(file), n_ctx=CONTEXT, verbose=False, **threads), cores)


def report(found: dict[str, list[Written]]) -> None:
    """Each lane's median speed, how many times vanilla's and the peer's it is, and how often its text is vanilla's."""
    lines = []
    for name, mine in found.items():
        one = ONE_CORE if name.endswith(ONE_CORE) else ""
        ratios = []
        for base in (found["vanilla" + one], found.get(PEER + one)):
            pairs = zip(mine, base or (), strict=False)
            ratios.append(f"{median(speed / other for (_, speed), (_, other) in pairs):.2f}" if base else "–")
        same = sum(text == theirs for (text, _), (theirs, _) in zip(mine, found["vanilla"], strict=True))
        lines.append([name, f"{median(speed for _, speed in mine):.1f}", *ratios, f"{same} of {len(mine)}"])
    print(markdown(["", "tokens/s", "over vanilla", f"over {PEER}", "vanilla's very text"], lines))


def main() -> None:
    options = arguments(__doc__, prompts=14, max_new_tokens=96, methods=METHODS).parse_args()
    engine, count = load_engine(), options.max_new_tokens
    lanes = runs.lanes(options.methods.split(","), Settings(max_new_tokens=count))
    lanes[1] = runner.Lane("vanilla" + ONE_CORE, "vanilla", replace(lanes[1].settings, cores="target"))
    peers, llama_cpp = dict(transformers_peers(engine.pair)), "not installed"
    if importlib.util.find_spec("llama_cpp"):
        peers |= llama_cpp_peers(engine.pair)
        llama_cpp = version("llama-cpp-python")

    def ours(lane: runner.Lane, prompt: str) -> Written:
        (row,) = runner.compare(engine, [prompt], [lane], warmups=0)
        return row["token_ids"], row["metrics"]["tps"]

    found: dict[str, list[Written]] = {}
    for number, prompt in enumerate(spread(questions(6), options.prompts)):
        if not number:
            short = [lane._replace(settings=runs.short(lane.settings)) for lane in lanes]
            list(runner.compare(engine, [prompt], short, warmups=0))
            for peer in peers.values():
                peer(prompt, WARM_UP)
        works = {lane.name: partial(ours, lane, prompt) for lane in lanes}
        works |= {name: partial(peer, prompt, count) for name, peer in peers.items()}
        for name, written in alternated(works, 1, first=number).items():
            found.setdefault(name, []).extend(written)
        print(f"{number + 1} of {options.prompts}", end="\r", flush=True)
    print(f"{machine(engine.pair)}, llama-cpp-python {llama_cpp}, {options.prompts} prompts, {count} tokens")
    report(found)


if __name__ == "__main__":
    main()
