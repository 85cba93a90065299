"""Every method against seeded vanilla, and greedy vanilla against transformers.generate, on the embedded pair.

    python -m tests.benchmarks.equality [--prompts 40] [--max-new-tokens 128] [--methods NAME,…]
                                        [--temperature T] [--combinations | --sampled]

Prints equal, tie or defect for each text (see tests/equality.py) and exits with 1 on a defect, or on
more than one tie in 5,000 positions. --combinations runs every k, γ and draft mode of
DuoDecoding instead of the defaults; --sampled runs temperatures 0.7 and 1.3, with and without top-k
and top-p, three seeds each. transformers is left out of both, and above temperature 0.
"""

import argparse
import itertools
import json
import sys
from collections import Counter

import torch
from transformers import AutoModelForCausalLM

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.models.cores import on_cores
from duoviz.models.embedded import embedded_target
from duoviz.models.llama import load_llama
from duoviz.models.pairs import load_pair
from tests.benchmarks.methods import questions, spread
from tests.equality import judge, rounding_delta


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--prompts", type=int, default=40)
    options.add_argument("--max-new-tokens", type=int, default=128)
    options.add_argument("--methods", default=",".join(name for name in METHODS if name != "vanilla"))
    options.add_argument("--temperature", type=float, default=0.0)
    options.add_argument("--combinations", action="store_true")
    options.add_argument("--sampled", action="store_true")
    options = options.parse_args()
    pair = load_pair()
    folder = embedded_target()
    exact = load_llama(folder, precision="float64", label="float64", context_limit=2048)
    reference = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    settings = [Settings(max_new_tokens=options.max_new_tokens, temperature=options.temperature)]
    methods = options.methods.split(",")
    if options.combinations:
        methods = ["duodecoding"]
        settings = [
            Settings(max_new_tokens=options.max_new_tokens, sequences=k, budget=budget, draft_mode=mode)
            for k, budget, mode in itertools.product(("dynamic", 1, 2, 3, 8), ("auto", 1, 5, 13), ("batched", "paper"))
        ]
    if options.sampled:
        settings = [
            Settings(max_new_tokens=options.max_new_tokens, temperature=temperature, seed=seed, **filters)
            for temperature, filters, seed in itertools.product((0.7, 1.3), ({}, {"top_k": 50, "top_p": 0.9}), range(3))
        ]
    prompts = spread(questions(6), options.prompts)
    with runner.target_on(pair, pair.cores.target):
        delta = rounding_delta(pair.target, pair.encode(prompts[0] * 3))
    print(f"δ = {delta:.2e}; {len(prompts)} prompts, {options.max_new_tokens} tokens, {len(settings)} settings")
    counts: Counter = Counter()
    positions = 0
    for prompt in prompts:
        ids = pair.encode(prompt)
        for each in settings:
            if each is settings[0] or options.sampled:
                base = run(pair, "vanilla", prompt, each)
            for method in methods:
                other = run(pair, method, prompt, each)
                counts[method, judge(exact, ids, base, other, delta, each.sampling)] += 1
                positions += len(other)
        if not (options.combinations or options.sampled or options.temperature):
            with on_cores(pair.cores.all):
                out = reference.generate(torch.tensor([ids]), max_new_tokens=options.max_new_tokens, do_sample=False)
            counts["transformers", judge(exact, ids, base, out[0, len(ids) :].tolist(), delta)] += 1
        print(json.dumps({" ".join(key): value for key, value in counts.items()}), flush=True)
    ties = sum(counts[method, "tie"] for method in methods)
    defects = sum(counts[method, "defect"] for method in (*methods, "transformers"))
    print(f"{positions:,} positions, {ties} ties, {defects} defects")
    return int(defects > 0 or ties > max(1, positions / 5000))


def run(pair, method: str, prompt: str, settings: Settings) -> list[int]:
    trace = runner.collect(runner.stream(pair, method, prompt, settings))
    return runner.summary(trace)["token_ids"]


if __name__ == "__main__":
    sys.exit(main())
