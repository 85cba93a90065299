"""Which draft is worth training: shapes and learning rates compared on a few tokens, by agreement and by cost.

    python -m tests.benchmarks.draft_sweep --out DIR [--tokens 100000] [--corpus FILE.npz …]

Goes on where it stopped, and prints a table, which is also DIR/table.md. Run it on a machine that does nothing else.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from duoviz.decoding.budget import speculative_budget
from duoviz.decoding.calibration import MeasureRequest, calibrate
from duoviz.decoding.costs import CONTEXTS, CostModel, Costs, Forward
from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.placement import Placement
from duoviz.decoding.theory import in_turn_speed, parallel_speed
from duoviz.decoding.worker.inline import InlineDraft
from duoviz.models.cores import on_cores
from duoviz.models.embedded import embedded_target
from duoviz.models.load import load_model
from duoviz.models.pair import Pair
from duoviz.training.__main__ import CORPUS
from duoviz.training.corpus import Row, load_corpus, sample
from duoviz.training.distillation import HELD_OUT, Recipe, load_teacher, train
from duoviz.training.evaluation import scores
from duoviz.training.student import save_draft
from tests.release.pages import markdown

# One thing at a time is changed from the first.
BASE = Recipe(tokens=0)
CHANGES = (
    {}, {"layers": 1}, {"layers": 3}, {"layers": 4}, {"layers": 6}, {"layers": 8},
    {"embedding_rank": 320}, {"embedding_rank": 160}, {"output_tokens": 4_096}, {"output_tokens": 16_384},
    {"peak": 4e-4}, {"peak": 1.6e-3},
)  # fmt: skip
SCORED_ROWS = 64
# Of timing, and for the draft alone and each context in one of them.
ROUNDS, SECONDS = 3, 0.5
HEAD = ["draft", "MB", "float32", "int8", "copying", "α₁ … α₄", "T=1", "T_draft(1); (8) ms", "SpS (γ)", "DuoDecoding"]


def sweep(target_folder: Path, corpus: Sequence[Row], out: Path, *, tokens: int) -> None:
    """Train each variant for `tokens` tokens into its own folder of `out`; finished ones are kept."""
    scored = sample([row for row in corpus if row.held_out], SCORED_ROWS)
    for number, change in enumerate(CHANGES, 1):
        recipe, folder = replace(BASE, tokens=tokens, **change), out / named(change)
        if (folder / "result.json").is_file():
            continue
        print(f"{number} of {len(CHANGES)}: {named(change)}")
        progress = train(load_teacher(target_folder), corpus, recipe)
        save_draft(progress.student, folder)
        result = {"change": change, "recipe": asdict(recipe), "minutes": progress.log[-1]["minutes"]}
        result["megabytes"] = round((folder / "model.safetensors").stat().st_size / 1e6, 1)
        result |= scores(target_folder, progress.student, folder, scored)
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n")


def named(change: dict) -> str:
    return "-".join(f"{name}_{value}" for name, value in change.items()) or "base"


def results(out: Path) -> Iterator[tuple[dict, Path]]:
    """Each finished variant's result and folder, in the order of the sweep."""
    for change in CHANGES:
        file = out / named(change) / "result.json"
        if file.is_file():
            yield json.loads(file.read_text()), file.parent


def measure(engine: Engine, out: Path) -> list[dict]:
    """The results of a sweep with each draft's cost beside this engine's target, and predicted speeds.

    Each shape is timed in rounds, so that a slow moment of the machine falls on no single one.
    """
    found = list(results(out))
    folders = {shape_of(result): folder for result, folder in found}
    together = engine.known_costs(Placement(True, engine.pair.cores.target)).model
    in_turn, beside = ({shape: Costs() for shape in folders} for _ in range(2))
    for number in range(1, ROUNDS + 1):
        print(f"costs, round {number} of {ROUNDS}", flush=True)
        for shape, folder in folders.items():
            time_draft(engine.pair, folder, in_turn[shape], beside[shape])
    rows = []
    for result, _ in found:
        shape = shape_of(result)
        parallel = CostModel(together.target, beside[shape].model.draft)
        rows.append(result | predicted(in_turn[shape].model, parallel, result["copying"]["top1"]))
    return rows


def shape_of(result: dict) -> tuple:
    """What a draft's cost follows from."""
    return tuple(result["recipe"][name] for name in ("layers", "embedding_rank", "output_tokens"))


def time_draft(pair: Pair, folder: Path, in_turn: Costs, beside: Costs) -> None:
    """Let the costs learn from this draft, in turn with the pair's target, and on the draft's own cores."""
    draft = InlineDraft(load_model(folder, precision="int8", label="draft"))
    with on_cores(pair.cores.all):
        calibrate(pair.target, draft, in_turn, beside=False)
    with on_cores(pair.cores.draft):
        for context in CONTEXTS:
            draft.submit(MeasureRequest(context, SECONDS))
            beside.observe([], [Forward(k, context, seconds) for k, seconds in draft.result().items()])


def predicted(in_turn: CostModel, parallel: CostModel, alpha: float) -> dict:
    """Draft steps in ms, and tokens a second at acceptance α: SpS at its best γ; DuoDecoding with one sequence."""
    context = CONTEXTS[0]
    budget = speculative_budget(in_turn, alpha, context=context)
    target, draft = partial(in_turn.target_time, context=context), in_turn.draft_time(1, context)
    speculative = float(in_turn_speed(alpha, budget, target=target, draft=draft))
    lengths = np.arange(1, 17)
    target, drafting = partial(parallel.target_time, context=context), lengths * parallel.draft_time(1, context)
    duodecoding = float(np.max(parallel_speed(alpha, alpha, lengths, target=target, drafting=drafting)))
    return {
        "draft_ms": [round(seconds * 1e3, 2) for seconds in parallel.draft[0]],
        "gamma": budget,
        "speculative": round(speculative, 2),
        "duodecoding": round(duodecoding, 2),
    }


def cells(row: dict) -> list[str]:
    """A row of the table."""
    copying, costs = row["copying"], row["draft_ms"]
    return [
        named(row["change"]).replace("_", " "),
        f"{row['megabytes']}",
        *(f"{share:.3f}" for share in (row["float32"], row["int8"], copying["top1"])),
        " ".join(f"{share:.2f}" for share in copying["by_position"][:4]),
        f"{copying['classical at temperature 1']:.3f}",
        f"{costs[0]}; {costs[7]}",
        f"{row['speculative']} ({row['gamma']})",
        f"{row['duodecoding']}",
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--corpus", type=Path, nargs="+", default=CORPUS, metavar="FILE.npz")
    options.add_argument("--out", type=Path, required=True, metavar="DIR")
    options.add_argument("--tokens", type=int, default=100_000)
    options = options.parse_args()
    sweep(embedded_target(), load_corpus(options.corpus, held_out=HELD_OUT), options.out, tokens=options.tokens)
    with load_engine() as engine:
        table = markdown(HEAD, [cells(row) for row in measure(engine, options.out)])
    (options.out / "table.md").write_text(table + "\n")
    print(table)


if __name__ == "__main__":
    main()
