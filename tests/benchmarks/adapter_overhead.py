"""What watching costs transformers' `generate` with the embedded target and prompt lookup: watched and not, alternated.

python -m tests.benchmarks.adapter_overhead [--prompts 4] [--rounds 4] [--tokens 32]
"""

import time
from collections.abc import Callable
from functools import partial
from statistics import median

from transformers import AutoModelForCausalLM, AutoTokenizer

from duoviz.adapters.transformers_runs import watch
from duoviz.models.embedded import embedded_target
from tests.benchmarks.harness import alternated, arguments, questions


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    options = arguments(__doc__, prompts=4, rounds=4, tokens=32).parse_args()
    folder = embedded_target()
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    own = {"do_sample": False, "max_new_tokens": options.tokens, "min_new_tokens": options.tokens}

    def plain(prompt: str) -> None:
        model.generate(**tokenizer(prompt, return_tensors="pt"), prompt_lookup_num_tokens=4, **own)

    def watched(prompt: str) -> None:
        with watch(model, tokenizer):
            plain(prompt)

    ratios = []
    for prompt in questions(1)[: options.prompts]:
        plain(prompt)
        found = alternated(
            {work.__name__: partial(seconds, partial(work, prompt)) for work in (plain, watched)}, options.rounds
        )
        ratios.append(median(found["watched"]) / median(found["plain"]))
        print(f"{prompt[:40]!r}: watched takes {ratios[-1]:.3f} times as long", flush=True)
    print(f"median over {len(ratios)} prompts: {median(ratios):.3f}")


if __name__ == "__main__":
    main()
