"""What drafting gains where the target has fewer bits: each method with the target in float32 and in int8.

    python -m tests.benchmarks.fewer_bits [--prompts 7] [--max-new-tokens 64] [--methods NAME,…]

On a processor; every method's text has to be that of vanilla in the same precision.
"""

from contextlib import ExitStack
from functools import partial
from statistics import median
from unittest.mock import patch

from duoviz import Engine, Settings, load_engine, runner
from duoviz.models import load
from duoviz.trace.metrics import metrics, text_of
from tests.benchmarks.harness import alternated, arguments, machine, questions, ratios, spread

PRECISIONS, WARM_UP = ("float32", "int8"), 2


def load_in(precision: str) -> Engine:
    with patch.object(load, "precisions", lambda *pair: (precision, "int8")):
        return load_engine()


def run(engine: Engine, method: str, settings: Settings, prompt: str) -> dict:
    return runner.collect(runner.stream(engine, method, prompt, settings))


def main() -> None:
    parser = arguments(__doc__, prompts=7, max_new_tokens=64, methods="vanilla,speculative,duodecoding,duotree")
    options = parser.parse_args()
    methods, settings = options.methods.split(","), Settings(max_new_tokens=options.max_new_tokens)
    prompts = spread(questions(3), options.prompts)
    with ExitStack() as stack:
        of = {precision: stack.enter_context(load_in(precision)) for precision in PRECISIONS}
        print(machine(of["int8"].pair))
        lanes = [(precision, method) for method in methods for precision in PRECISIONS]
        works = {lane: partial(run, of[lane[0]], lane[1], settings) for lane in lanes}
        for prompt in prompts[:WARM_UP]:
            for work in works.values():
                work(prompt)
        found = alternated(works, prompts)
    print(f"{'':23} tokens/s     φ     τ  vanilla's text")
    for precision, method in sorted(lanes):
        figures, base = ([metrics(trace) for trace in found[precision, lane]] for lane in (method, methods[0]))
        speeds, alone = ([figure["tps"] for figure in each] for each in (figures, base))
        texts, of_vanilla = (
            [text_of(trace["iterations"]) for trace in found[precision, lane]] for lane in (method, methods[0])
        )
        same, tau = sum(map(str.__eq__, texts, of_vanilla)), median(figure["tau"] for figure in figures)
        numbers = f"{median(speeds):8.1f} {median(ratios(speeds, alone)):5.2f} {tau:5.2f}"
        print(f"{method:14} {precision:8} {numbers}  {same} of {len(texts)}")


if __name__ == "__main__":
    main()
