"""What one target forward costs: the lean decoder with 1 and 8 tokens, and transformers with 1.

    python -m tests.benchmarks.forward_cost

One core, float32, contexts of 64 and 512; the three are alternated and medians printed.
"""

import time
from statistics import median

import torch
from transformers import AutoModelForCausalLM

from duoviz.models.cores import machine_name, on_cores
from duoviz.models.embedded import embedded_target
from duoviz.models.pairs import load_pair

ROUNDS = 31


@torch.inference_mode()
def measure(context: int, lean, reference) -> dict[str, float]:
    ids = torch.randint(2, 40_000, (context,), generator=torch.Generator().manual_seed(0)).tolist()
    lean.crop(0)
    lean.forward(ids, rows=[0])
    cache = reference(torch.tensor([ids]), use_cache=True).past_key_values

    def run_lean(rows: int) -> None:
        lean.forward(ids[:rows])
        lean.crop(context)

    def run_reference() -> None:
        reference(torch.tensor([ids[:1]]), past_key_values=cache, use_cache=True)
        cache.crop(-1)

    cases = {"lean 1": lambda: run_lean(1), "lean 8": lambda: run_lean(8), "transformers 1": run_reference}
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            start = time.perf_counter()
            case()
            times[name].append(time.perf_counter() - start)
    return {name: median(taken[1:]) * 1e3 for name, taken in times.items()}


def main() -> None:
    pair = load_pair()
    reference = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
    print(f"{machine_name()}, one core, float32, torch {torch.__version__}; medians of {ROUNDS - 1} alternated runs")
    with on_cores(pair.cores.target):
        pair.target.tune()
        for context in (64, 512):
            ms = measure(context, pair.target, reference)
            print(
                f"context {context}: "
                + ", ".join(f"{name} {value:.1f} ms" for name, value in ms.items())
                + f"; 8 tokens / 1 token {ms['lean 8'] / ms['lean 1']:.2f}"
                + f"; lean / transformers {ms['lean 1'] / ms['transformers 1']:.2f}"
            )


if __name__ == "__main__":
    main()
