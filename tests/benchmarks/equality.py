"""Every method against seeded vanilla, and vanilla against transformers.generate, on the embedded pair or another.

    python -m tests.benchmarks.equality [--prompts 40] [--max-new-tokens 128] [--methods NAME,…] [--pair NAME]
                                        [--temperature T] [--context 0]

Texts are judged as in the Compare tab. Prints how often each lane's were equal, a tie or a defect, and each tie and
defect with its place and margin; exits with 1 on a defect, or on more than one tie in 5,000 positions. transformers has
the embedded target as it is, whose text is that of its larger shapes; it is left out for other targets, on a GPU, where
the text is not greedy, and with --context: then the prompts are so many tokens of Python's help topics.
"""

import sys
from collections import Counter

import torch
from transformers import AutoModelForCausalLM

from duoviz import runner, runs
from duoviz.comparison import against_vanilla
from duoviz.decoding import METHODS
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.models.cores import on_cores
from duoviz.models.embedded import embedded_target
from duoviz.models.registry import EMBEDDED, find_pair
from duoviz.trace.agreement import VERDICTS, agreement, sentence, written
from tests.benchmarks.harness import arguments, beginnings, by_transformers, machine, questions, spread


def main() -> int:
    defaults = {"max_new_tokens": 128, "methods": ",".join(METHODS), "pair": "embedded", "temperature": 0.0}
    options = arguments(__doc__, prompts=40, context=0, **defaults).parse_args()
    engine = load_engine(options.pair)
    pair = engine.pair
    prompts = spread(questions(6), options.prompts)
    if options.context:
        prompts = beginnings(pair, options.context, options.prompts, python=True)
    known = find_pair(options.pair).target == EMBEDDED and pair.target.device == "cpu"
    settings = Settings(max_new_tokens=options.max_new_tokens, temperature=options.temperature)
    lanes = runs.lanes(options.methods.split(","), settings)
    reference = None
    if known and not options.temperature and not options.context:
        reference = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
    counts, positions = Counter(), Counter()
    for prompt in prompts:
        rows = list(runner.compare(engine, [prompt], lanes, warmups=0))
        agreements = against_vanilla(engine, rows)
        if reference is not None:
            ids = pair.encode(prompt)
            with on_cores(pair.cores.all):
                theirs = by_transformers(reference, ids, options.max_new_tokens)
            delta = engine.rounding_delta(ids + rows[0]["token_ids"])
            found = agreement(written(rows[0]["trace"]), theirs, delta)
            agreements.append({"method": "transformers", "cores": "all", **found})
        for found in agreements:
            lane = found["method"], found["cores"]
            counts[*lane, found["verdict"]] += 1
            positions[lane] += found["tokens"]
            if found["verdict"] != "equal":
                print(f"{lane}, {prompt[:60]!r}: {sentence(found)}", flush=True)
    print(machine(pair))
    for lane, compared in positions.items():
        found = ", ".join(f"{counts[*lane, verdict]} {verdict}" for verdict in VERDICTS)
        print(f"{lane[0]:24} {lane[1]:7} {compared:10,} positions: {found}")
    ties, defects = (sum(count for key, count in counts.items() if key[-1] == each) for each in ("tie", "defect"))
    print(f"{sum(positions.values()):,} positions, {ties} ties, {defects} defects")
    return int(defects > 0 or ties > max(1, sum(positions.values()) / 5000))


if __name__ == "__main__":
    sys.exit(main())
