"""One table, one run: every method and vanilla on the prompts of the seven tasks, alternated.

    python -m tests.benchmarks.methods [--prompts 40] [--max-new-tokens 128] [--temperature 0] [--methods NAME,…]
                                       [--pair NAME | --draft DIR] [--out FILE.json]

SpS runs twice, with γ = auto and with γ = 5, and DuoTree three times, the draft's way of working left to it, in turn
and beside the target. With --draft DIR another draft takes the embedded one's
place. One warm-up round; medians over prompts, τ and yield over all tokens. Each figure is given again without the
prompts whose vanilla answer falls into a loop. Below the table: τ and φ by task, acceptance by
position, the τ that the formulas expect at the measured acceptance, and of DuoTree's chances what they promised.
"""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median

from duoviz import runner, runs
from duoviz.decoding import METHODS
from duoviz.decoding.engine import Engine, load_engine
from duoviz.decoding.settings import Settings
from duoviz.decoding.theory import acceptance_of, parallel_tokens, run_of
from duoviz.models.embedded import embedded_target
from duoviz.trace.metrics import proposals
from duoviz.training.selfchat import loops
from tests.benchmarks.harness import arguments, counted, machine, spread, tasked
from tests.benchmarks.promises import promises

POSITIONS = 6
WAYS = ("in_turn", "beside")


def figures(rows: list[dict], base: dict[str, dict], same: dict[str, dict]) -> dict:
    """Medians over prompts of TPS, TTFT and both φ; τ and yield over all tokens; None where nothing was drafted."""
    traces = [row["trace"] for row in rows]
    tokens = sum(row["metrics"]["new_tokens"] for row in rows)
    drafted = sum(proposals(trace["iterations"]) for trace in traces)
    used = sum(
        token["source"] != "target" for trace in traces for each in trace["iterations"]
        for token in each["committed"]
    )  # fmt: skip
    return {
        "tps": median(row["metrics"]["tps"] for row in rows),
        "ttft": median(row["metrics"]["ttft"] for row in rows),
        "phi": median(row["metrics"]["tps"] / base[row["prompt"]]["metrics"]["tps"] for row in rows),
        "phi_same": median(row["metrics"]["tps"] / same[row["prompt"]]["metrics"]["tps"] for row in rows),
        "tau": tokens / sum(row["metrics"]["target_forwards"] for row in rows),
        "tau_median": median(row["metrics"]["tau"] for row in rows),
        "yield": used / drafted if drafted else None,
        "same_text": sum(row["token_ids"] == base[row["prompt"]]["token_ids"] for row in rows),
        "runs": len(rows),
    }


def show(names: list[str], rows: list[dict], title: str) -> list[dict]:
    """Print one table over some rows and return its lines."""
    base, same = ({row["prompt"]: row for row in rows if row["method"] == name} for name in names[:2])
    print(f"\n{title}: {len(base)} prompts")
    print(
        f"{'method':28} {'tokens/s':>8} {'TTFT s':>7} {'φ':>5} {'φ same cores':>12} {'τ':>5} {'τ median':>8} "
        f"{'yield':>6}  vanilla's text"
    )
    lines = []
    for name in names:
        line = figures([row for row in rows if row["method"] == name], base, same)
        lines.append({"method": name, **line})
        used = f"{line['yield']:.2f}" if line["yield"] is not None else "–"
        print(
            f"{name:28} {line['tps']:8.2f} {line['ttft']:7.3f} {line['phi']:5.2f} {line['phi_same']:12.2f} "
            f"{line['tau']:5.2f} {line['tau_median']:8.2f} {used:>6}  {line['same_text']}/{line['runs']}"
        )
    return lines


def by_task(names: list[str], rows: list[dict], tasks: dict[str, str]) -> None:
    """τ, φ and φ on the same cores of each method, task by task."""
    base, same = ({row["prompt"]: row for row in rows if row["method"] == name} for name in names[:2])
    for key, title in (("tau", "τ"), ("phi", "φ"), ("phi_same", "φ same cores")):
        print(f"\n{title:28} " + " ".join(f"{task[:9]:>9}" for task in sorted(set(tasks.values()))))
        for name in names:
            cells = []
            for task in sorted(set(tasks.values())):
                mine = [row for row in rows if row["method"] == name and tasks[row["prompt"]] == task]
                cells.append(f"{figures(mine, base, same)[key]:9.2f}")
            print(f"{name:28} " + " ".join(cells))


def positions(rows: list[dict]) -> list[float]:
    """Of the runs of verified tokens that came to position i, how many had it accepted; i = 1, 2, …"""
    accepted, tested = [0] * POSITIONS, [0] * POSITIONS
    for row in rows:
        for each in row["trace"]["iterations"]:
            verdict = each["verdict"]
            for place in range(min(verdict["tested"], POSITIONS)):
                tested[place] += 1
                accepted[place] += place < verdict["accepted"]
    return [got / all if all else 0.0 for got, all in zip(accepted, tested, strict=True)]


def explain(name: str, rows: list[dict]) -> None:
    """Acceptance, and τ beside what the formula expects at it."""
    together = {"iterations": [each for row in rows for each in row["trace"]["iterations"]]}
    tokens = sum(row["metrics"]["new_tokens"] for row in rows)
    tau = tokens / len(together["iterations"])
    tested = sum(each["verdict"]["tested"] for each in together["iterations"])
    accepted = sum(each["verdict"]["accepted"] for each in together["iterations"])
    print(f"\n{name}: accepted {accepted / max(1, tested):.3f} of the positions tested; by position "
          + " ".join(f"{share:.2f}" for share in positions(rows)))  # fmt: skip
    if name == "duodecoding":
        found = acceptance_of(together["iterations"])
        expected = parallel_tokens(found.alpha, found.beta, found.length)
        print(f"  α {found.alpha:.3f}, β {found.beta:.3f}, mean length taken {found.length:.2f}")
        print(f"  τ {tau:.3f}, by the formula {expected:.3f} ({tau / expected - 1:+.1%})")
        for key in ("overlap", "idle_target", "idle_draft"):
            # None where both models share their cores.
            if shares := [row["metrics"][key] for row in rows if row["metrics"][key] is not None]:
                print(f"  {key}: median {median(shares):.3f}")
    elif name.startswith("duotree"):
        print("  chance: promised / seen (tokens)  " + "  ".join(
            f"{promised:.2f} / {seen:.2f} ({count})" for promised, seen, count in promises(together["iterations"])
        ))  # fmt: skip
        print(f"  {around_forwards(rows):.1%} of the time no model works; it worked beside the target in "
              f"{sum(row['trace']['header']['can_overlap'] for row in rows)} of {len(rows)} runs")  # fmt: skip
    elif name == "speculative γ=5":
        alpha = accepted / tested
        expected = run_of(alpha, 5)
        print(f"  α {alpha:.3f}; τ {tau:.3f}, by the formula {expected:.3f} ({tau / expected - 1:+.1%})")


def around_forwards(rows: list[dict]) -> float:
    """The share of the time after the first token in which neither model works."""
    idle = total = 0.0
    for row in rows:
        iterations = row["trace"]["iterations"]
        for before, each in pairwise(iterations):
            spans = sorted((span["start"], span["end"]) for span in (each["target"], *each["draft"]))
            covered, reached = 0.0, before["sync"]
            for start, end in spans:
                covered += max(0.0, end - max(start, reached))
                reached = max(reached, end)
            idle += each["sync"] - before["sync"] - covered
            total += each["sync"] - before["sync"]
    return idle / total


def measured(engine: Engine, prompts: list[str], lanes: list[runner.Lane]) -> list[dict]:
    """Every lane on every prompt, in one race: it takes every second prompt's lanes backwards."""
    return list(counted(runner.compare(engine, prompts, lanes), len(prompts) * len(lanes)))


def main() -> None:
    defaults = {"max_new_tokens": 128, "temperature": 0.0, "methods": ",".join(METHODS), "pair": "embedded"}
    parser = arguments(__doc__, prompts=40, **defaults)
    parser.add_argument("--draft", type=Path, help="another folder's draft instead of the embedded one")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    engine = load_engine(f"{embedded_target()} + {options.draft}" if options.draft else options.pair)
    settings = Settings(max_new_tokens=options.max_new_tokens, temperature=options.temperature)
    tasks = {prompt: task for task, prompt in spread(tasked(6), options.prompts)}
    lanes = runs.lanes(options.methods.split(","), settings)
    lanes[1] = lanes[1]._replace(name="vanilla, target's cores")
    if "speculative" in options.methods:
        lanes.append(runner.Lane("speculative γ=5", "speculative", replace(settings, budget=5)))
    if "duotree" in options.methods:
        lanes += [runner.Lane(f"duotree {way}", "duotree", replace(settings, overlap=way)) for way in WAYS]
    rows = measured(engine, list(tasks), lanes)

    print(machine(engine.pair))
    names = list(dict.fromkeys(row["method"] for row in rows))
    names = [*(lane.name for lane in lanes[:2]), *(name for name in names if not name.startswith("vanilla"))]
    looping = {row["prompt"] for row in rows if row["method"] == "vanilla" and loops(row["token_ids"])}
    tables = {"all": show(names, rows, "all prompts")}
    free = [row for row in rows if row["prompt"] not in looping]
    tables["without loops"] = show(names, free, f"without the {len(looping)} prompts whose answer loops")
    by_task(names, rows, tasks)
    for name in names[2:]:
        explain(name, [row for row in rows if row["method"] == name])
    if options.out:
        options.out.write_text(json.dumps(tables, indent=1))


if __name__ == "__main__":
    main()
