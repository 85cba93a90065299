"""duoviz beside transformers' generate and llama.cpp, all on one prompt after the other: tokens a second, greedy.

    python -m tests.benchmarks.peers [--prompts 14] [--max-new-tokens 96] [--methods NAME,…]

transformers runs in float32: plain, with prompt look-up and with our draft as its assistant. llama.cpp runs where
`llama-cpp-python` is installed: the same float32 numbers on all cores and on one, and its own 4-bit weights. Medians
over prompts; the ratios are to what has as many cores, on the same prompt.
"""

import argparse
import importlib.util
from dataclasses import replace
from importlib.metadata import version
from statistics import median

from duoviz import runner, runs
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.lab.readme import markdown
from tests.benchmarks.methods import questions, spread
from tests.benchmarks.transformers_rows import TransformersRows

METHODS = "speculative,duodecoding,duotree"
PEER, ONE_CORE = "llama.cpp, float32", ", one core"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--prompts", type=int, default=14)
    options.add_argument("--max-new-tokens", type=int, default=96)
    options.add_argument("--methods", default=METHODS)
    options = options.parse_args()
    engine, count = load_engine(), options.max_new_tokens
    pair = engine.pair
    lanes = runs.lanes(options.methods.split(","), Settings(max_new_tokens=count))
    lanes[1] = runner.Lane("vanilla" + ONE_CORE, "vanilla", replace(lanes[1].settings, cores="target"))
    others = [TransformersRows(pair, count)]
    versions = {**runner.versions(), "llama.cpp": "not installed"}
    if importlib.util.find_spec("llama_cpp"):
        from tests.benchmarks.llama_cpp_rows import LlamaCppRows

        others.append(LlamaCppRows(pair, count))
        versions["llama.cpp"] = f"llama-cpp-python {version('llama-cpp-python')}"
    rows: list[dict] = []
    for number, prompt in enumerate(spread(questions(6), options.prompts)):
        warmup = not rows
        steps = [lambda: runner.compare(engine, [prompt], lanes, warmups=int(warmup))]
        steps += [lambda other=other: other.rows(prompt, warmup=warmup) for other in others]
        for step in steps if number % 2 == 0 else reversed(steps):
            rows += step()
        print(f"{number + 1} of {options.prompts}", end="\r", flush=True)
    print(f"{versions}, {pair.target_device_label(pair.cores.all)}, {options.prompts} prompts, {count} tokens")
    report(rows)


def report(rows: list[dict]) -> None:
    """Each lane's median speed, how many times vanilla's and the peer's it is, and how often its text is vanilla's."""
    speeds: dict[str, dict[str, float]] = {}
    texts: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        speeds.setdefault(row["method"], {})[row["prompt"]] = row["metrics"]["tps"]
        texts.setdefault(row["method"], {})[row["prompt"]] = row["token_ids"]
    lines = []
    for name, mine in speeds.items():
        one = ONE_CORE if name.endswith(ONE_CORE) else ""
        bases = [speeds.get(base + one) for base in ("vanilla", PEER)]
        ratios = [median(speed / base[prompt] for prompt, speed in mine.items()) if base else None for base in bases]
        same = sum(text == texts["vanilla"][prompt] for prompt, text in texts[name].items())
        digits = [f"{each:.2f}" if each else "–" for each in ratios]
        lines.append([name, f"{median(mine.values()):.1f}", *digits, f"{same} of {len(mine)}"])
    print(markdown(["", "tokens/s", "over vanilla", f"over {PEER}", "vanilla's very text"], lines))


if __name__ == "__main__":
    main()
