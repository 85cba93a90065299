"""Speed by the text's length, beside llama.cpp in float32: how long the prompt is read, and tokens a second after it.

    python -m tests.benchmarks.contexts [--contexts 100,500,2000,4000] [--prompts 3] [--methods NAME,…] [--python]

The prompts are so many tokens of this project's documentation, with --python of Python's own help topics. 48 tokens are
written, and all take turns on each prompt. llama.cpp runs where `llama-cpp-python` is installed. Medians over the
prompts; speeds are compared on the same prompt.
"""

import importlib.util
import pydoc_data.topics
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from duoviz import runner, runs
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.models.pair import Pair
from tests.benchmarks.harness import alternated, arguments, machine
from tests.benchmarks.peers import gguf_files
from tests.release.pages import markdown

PEER = "llama.cpp"
NEW_TOKENS = 48


class Written(NamedTuple):
    """reading: seconds to the first token; speed: tokens a second from there on; tau: tokens a target forward."""

    reading: float
    speed: float
    tau: float


def beginning(pair: Pair, parts: list[str], tokens: int, number: int) -> str:
    """So many tokens of the parts of a text, from the given part on."""
    text = "\n".join(parts[number:] + parts[:number])
    return pair.tokenizer.decode(pair.tokenized([text[: 6 * tokens]], raw=True)[:tokens])


def llama_cpp_reader(pair: Pair, longest: int):
    """A function from a prompt to what llama.cpp makes of it, greedy, on all cores."""
    import llama_cpp

    threads = {"n_threads": len(pair.cores.all), "n_threads_batch": len(pair.cores.all)}
    model = llama_cpp.Llama(str(gguf_files()[1]), n_ctx=longest, verbose=False, **threads)

    def write(prompt: str) -> Written:
        model.reset()
        start, new, times = time.perf_counter(), pair.encode(prompt), []
        for _ in range(NEW_TOKENS):
            model.eval(new)
            new = [model.sample(temp=0.0)]
            times.append(time.perf_counter())
        return Written(times[0] - start, (NEW_TOKENS - 1) / (times[-1] - times[0]), 1.0)

    return write


def main() -> None:
    options = arguments(
        __doc__, contexts="100,500,2000,4000", prompts=3, methods="speculative,duodecoding,duotree", python=False
    ).parse_args()
    docs = [file.read_text() for file in sorted(Path("docs").glob("*.md"))]
    parts = list(pydoc_data.topics.topics.values()) if options.python else docs
    engine, contexts = load_engine(), [int(context) for context in options.contexts.split(",")]
    lanes = runs.lanes(options.methods.split(","), Settings(max_new_tokens=NEW_TOKENS))
    peers = {}
    if importlib.util.find_spec("llama_cpp"):
        peers[PEER] = llama_cpp_reader(engine.pair, max(contexts) + 4 * NEW_TOKENS)

    def ours(lane: runner.Lane, prompt: str) -> Written:
        (row,) = runner.compare(engine, [prompt], [lane], warmups=0)
        figures = row["metrics"]
        rest = figures["wall"] - figures["ttft"]
        return Written(figures["ttft"], (len(row["token_ids"]) - 1) / rest, figures["tau"])

    lines = []
    for context in contexts:
        found: dict[str, list[Written]] = {}
        for number in range(options.prompts):
            prompt = beginning(engine.pair, parts, context, number)
            works = {lane.name: partial(ours, lane, prompt) for lane in lanes}
            works |= {name: partial(write, prompt) for name, write in peers.items()}
            if not number:
                alternated(works, 1)
            for name, written in alternated(works, 1, first=number).items():
                found.setdefault(name, []).extend(written)
        for name, mine in found.items():
            bases = found["vanilla"], found.get(PEER, [])
            over, read = (
                [f"{median(value):.2f}" if value else "–"]
                for value in (
                    [one.speed / base.speed for one, base in zip(mine, bases[0], strict=True)],
                    [one.reading / base.reading for one, base in zip(mine, bases[1], strict=False)],
                )
            )
            speed, tau = median(one.speed for one in mine), median(one.tau for one in mine)
            reading = median(one.reading for one in mine)
            lines.append([str(context), name, f"{reading:.2f}", *read, f"{speed:.1f}", *over, f"{tau:.2f}"])
    print(machine(engine.pair))
    heads = ["prompt", "", "reading, s", f"over {PEER}", "tokens/s", "over vanilla", "τ"]
    print(markdown(heads, lines))


if __name__ == "__main__":
    main()
