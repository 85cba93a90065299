"""One table, one run: vanilla on all cores and on the target's, SpS, DuoDecoding, transformers.generate.

    python -m tests.benchmarks.methods [--prompts-per-task 1] [--max-new-tokens 128]

Greedy, alternated inside each prompt, one warm-up round; medians over prompts. Also the agreement
of τ with the formula at the measured α and β, and the overlap.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import median

import torch
from transformers import AutoModelForCausalLM
from transformers.generation.streamers import BaseStreamer

from duoviz import runner
from duoviz.decoding.settings import Settings
from duoviz.models.cores import on_cores
from duoviz.models.embedded import embedded_target
from duoviz.models.pairs import load_pair
from duoviz.trace.metrics import acceptance_by_kind, expected_tau

PROMPTS = Path("assets/prompts")


class FirstToken(BaseStreamer):
    """Notes when the first new token came."""

    def __init__(self):
        self.calls, self.time = 0, None

    def put(self, value) -> None:
        self.calls += 1
        if self.calls == 2:  # the first call brings the prompt
            self.time = time.perf_counter()

    def end(self) -> None:
        pass


def reference_row(model, pair, prompt: str, count: int) -> dict:
    """TPS, TTFT and tokens of transformers.generate, greedy, on all cores."""
    with on_cores(pair.cores.all):
        start, first = time.perf_counter(), FirstToken()
        ids = pair.encode(prompt)
        out = model.generate(torch.tensor([ids]), max_new_tokens=count, do_sample=False, streamer=first)
        wall = time.perf_counter() - start
    tokens = out[0, len(ids) :].tolist()
    return {"tps": len(tokens) / wall, "ttft": first.time - start, "tau": 1.0, "tokens": tokens}


def questions(per_task: int) -> list[str]:
    files = sorted(PROMPTS.glob("*.jsonl"))
    return [json.loads(line)["turns"][0] for file in files for line in file.read_text().splitlines()[:per_task]]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--prompts-per-task", type=int, default=1)
    options.add_argument("--max-new-tokens", type=int, default=128)
    options = options.parse_args()
    pair = load_pair()
    model = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
    prompts, settings = questions(options.prompts_per_task), Settings(max_new_tokens=options.max_new_tokens)
    rows, references = [], []
    reference_row(model, pair, prompts[0], 16)
    for prompt in prompts:
        rows += runner.compare(
            pair, [prompt], ["vanilla", "speculative", "duodecoding"], settings, warmups=int(not rows)
        )
        references.append(reference_row(model, pair, prompt, options.max_new_tokens))

    print(f"{runner.versions()}, {pair.cores}, {pair.target_device_label(pair.cores.all)}, {len(prompts)} prompts")
    print(f"{'method':24} {'cores':7} {'tokens/s':>9} {'TTFT s':>7} {'τ':>5} {'φ':>5} {'φ same cores':>13}")
    for line in runner.table(rows):
        print(
            f"{line['method']:24} {line['cores']:7} {line['tps']:9.2f} {line['ttft']:7.3f} {line['tau']:5.2f} "
            f"{line['phi']:5.2f} {line['phi_same_cores']:13.2f}   vanilla's text {line['same_text']}/{line['runs']}"
        )
    base = [row for row in rows if row["method"] == "vanilla" and row["cores"] == "all"]
    phi = median(ref["tps"] / row["metrics"]["tps"] for ref, row in zip(references, base, strict=True))
    same = sum(ref["tokens"] == row["token_ids"] for ref, row in zip(references, base, strict=True))
    print(
        f"{'transformers.generate':24} {'all':7} {median(r['tps'] for r in references):9.2f} "
        f"{median(r['ttft'] for r in references):7.3f} {1:5.2f} {phi:5.2f}"
        f"                 same text as vanilla {same}/{len(base)}"
    )
    duo = [row for row in rows if row["method"] == "duodecoding"]
    report_duodecoding(duo)


def report_duodecoding(rows: list[dict]) -> None:
    """Overlap, acceptance, and τ beside the formula's."""
    together = {"iterations": [each for row in rows for each in row["trace"]["iterations"]]}
    kinds = acceptance_by_kind(together)
    tokens = sum(row["metrics"]["new_tokens"] for row in rows)
    forwards = sum(row["metrics"]["target_forwards"] for row in rows)
    expected = expected_tau(kinds["alpha"], kinds["beta"], kinds["length"])
    for name in ("overlap", "acceptance", "yield", "idle_target", "idle_draft"):
        print(f"{name}: median {median(row['metrics'][name] for row in rows):.3f}")
    print(f"α {kinds['alpha']:.3f}, β {kinds['beta']:.3f}, mean length taken {kinds['length']:.2f}")
    print(
        f"τ measured {tokens / forwards:.3f}, by the formula {expected:.3f} ({tokens / forwards / expected - 1:+.1%})"
    )


if __name__ == "__main__":
    main()
