"""Where an iteration's time goes, part by part, for every method.

    python -m tests.benchmarks.parts [--prompts 7] [--max-new-tokens 64] [--temperature 0] [--methods NAME,…]

Own milliseconds of each part, without what it calls of another part, after both models have read the prompt. In
`waiting` the calling thread waits for a parallel draft. `step` is all of a draft step that is no wait.
"""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from unittest.mock import patch

from duoviz import Engine, Settings, load_engine, runner
from duoviz.decoding import METHODS, choosing, drafting, loop
from duoviz.decoding.costs import Costs
from duoviz.decoding.duodecoding import DuoDecoding
from duoviz.decoding.duotree import draft_side, drafter
from duoviz.decoding.duotree.drafter import DuoTree
from duoviz.decoding.sampling import TargetDraws
from duoviz.decoding.speculative import Speculative
from duoviz.decoding.worker.process import ProcessDraft
from duoviz.models.copying import Copying
from duoviz.models.team import Team
from duoviz.trace.record import Recorder
from tests.benchmarks.harness import arguments, machine, questions

# A part's functions; those of a draft's step come first.
PARTS: dict[str, list[tuple[object, str]]] = {
    "draft pass": [],
    "around it": [(Copying, "best"), (choosing, "timed_forward"), (choosing, "timed_prefill"),
                  (drafting, "timed_prefill")],
    "choosing": [(drafting, "grow_sequences"), (draft_side.DraftSide, "grow")],
    "target pass": [(loop, "timed_forward")],
    "waiting": [(ProcessDraft, "result"), (ProcessDraft, "part")],
    "messages": [(ProcessDraft, "append"), (ProcessDraft, "enough")],
    "deciding": [(Speculative, "propose"), (DuoTree, "propose"), (drafter, "decide")],
    "judging": [(loop, "verify"), (TargetDraws, "row")],
    "observing": [(Speculative, "observe"), (DuoDecoding, "observe"), (DuoTree, "observe"), (loop, "roll_back")],
    "learning": [(Costs, "observe"), (Costs, "observe_overhead")],
    "recording": [(Recorder, "iteration")],
}  # fmt: skip
STEP = list(PARTS)[:3]
MODELS = "draft pass", "target pass", "waiting"


class OwnTimes:
    """Seconds of each part, without those of another part that it calls."""

    def __init__(self):
        self.seconds: Counter = Counter()
        self.stack: list[tuple[str, float]] = [("else", 0.0)]

    def timed(self, part: str, function: Callable) -> Callable:
        def wrapped(*given, **options):
            # A pass is the draft's where its step asked for it.
            name = part or ("draft pass" if self.stack[-1][0] == "around it" else "target pass")
            self.stack.append((name, 0.0))
            begin = time.perf_counter()
            try:
                return function(*given, **options)
            finally:
                taken = time.perf_counter() - begin
                inner = self.stack.pop()[1]
                self.seconds[name] += taken - inner
                caller, before = self.stack[-1]
                self.stack[-1] = caller, before + taken

        return wrapped

    def patched(self) -> ExitStack:
        """A context in which every part is timed."""
        stack = ExitStack()
        for part, functions in [*PARTS.items(), ("", [(Team, "run")])]:
            for owner, name in functions:
                stack.enter_context(patch.object(owner, name, self.timed(part, getattr(owner, name))))
        return stack


def parts_of(engine: Engine, method: str, prompts: list[str], settings: Settings) -> dict[str, float]:
    """Milliseconds an iteration of each part, and with `step …` a draft step; how many steps, and their rows."""
    times, iterations, whole = OwnTimes(), [], 0.0
    for prompt in prompts:
        with closing(runner.stream(engine, method, prompt, settings)) as events:
            next(events), next(events), next(events)
            with times.patched():
                begin = time.perf_counter()
                found = [event for event in events if event["type"] == "iteration"]
                whole += time.perf_counter() - begin
            iterations += [event["iteration"] for event in found]
    steps = [step for each in iterations for step in each["draft"] if step["tokens"] <= 8]
    taken = {part: 1e3 * times.seconds[part] / len(iterations) for part in PARTS}
    taken["else"] = 1e3 * whole / len(iterations) - sum(taken.values())
    own = sum(each for part, each in taken.items() if part not in (*STEP, *MODELS))
    return taken | {
        "Python": own,
        "iteration": 1e3 * whole / len(iterations),
        "steps": len(steps) / len(iterations),
        "rows": sum(step["tokens"] for step in steps) / max(1, len(steps)),
        "step": sum(taken[part] for part in STEP) * len(iterations) / max(1, len(steps)),
    }


def main() -> None:
    defaults = {"max_new_tokens": 64, "temperature": 0.0, "methods": ",".join(METHODS)}
    options = arguments(__doc__, prompts=7, **defaults).parse_args()
    engine, names = load_engine(draft=True), options.methods.split(",")
    settings = Settings(max_new_tokens=options.max_new_tokens, temperature=options.temperature)
    prompts = questions(-(-options.prompts // 7))[: options.prompts]
    for method in names:
        runner.collect(runner.stream(engine, method, prompts[0], settings))
    found = {method: parts_of(engine, method, prompts, settings) for method in names}
    print(machine(engine.pair))
    print(f"\nms an iteration {'':9}" + "".join(f"{name[:11]:>12}" for name in names))
    for part in [*PARTS, "else", "Python", "iteration", "steps", "rows", "step"]:
        print(f"{part:24} " + "".join(f"{found[name][part]:12.3f}" for name in names))
    engine.close()


if __name__ == "__main__":
    main()
