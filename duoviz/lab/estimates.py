"""What other hardware would change: estimates of the cost model from what was measured here."""

from dataclasses import replace

import numpy as np

from duoviz.decoding.costs import CONTEXTS, CostModel
from duoviz.decoding.duotree.simulate import CONTEXT, ITERATIONS, Places, exponential_tilt
from duoviz.lab import paper
from duoviz.lab.environment import IN_TURN, TOGETHER
from duoviz.lab.plan import DUO, DUOTREE, SPS, VANILLA, label_of
from duoviz.lab.prediction import (
    duodecoding_phi,
    duotree_phi,
    fewest,
    growth,
    padded_models,
    places_of,
    ratio_of,
    speculative_phi,
    with_free_rows,
)
from duoviz.lab.results import Results
from duoviz.lab.values import acceptance, phi, rows_of, tasks_of

CORES = 8


def on_cpu(environment: dict) -> bool:
    """Whether the target ran on a CPU, which older results say in its label alone."""
    return environment.get("cpu", "CPU core" in environment["devices"]["target"])


def other_hardware(results: Results) -> str:
    """A paragraph; empty where the draft's acceptance or DuoTree was not measured, or the target ran on a GPU."""
    alpha = acceptance(rows_of(results.rows, SPS)).rate
    measured = phi(rows_of(results.rows, DUOTREE), rows_of(results.rows, VANILLA), tasks_of(results.rows))
    if alpha is None or not measured or not on_cpu(results.environment):
        return ""
    models, places = padded_models(results.environment), exponential_tilt(places_of(results.environment), alpha)
    together, in_turn = models[TOGETHER], models[IN_TURN]
    here, _ = estimated_phis(together, in_turn, alpha, places)
    said = [
        "**What other hardware would change**, as an estimate: the cost model "
        "(`duoviz/decoding/duotree/simulate.py`, `theory.py`) with this machine's times, the draft's probabilities and "
        f"SpS's acceptance, {alpha:.2f}. On this machine it estimates {here[DUOTREE]:.2f} for DuoTree; measured: "
        f"{measured.value:.2f}."
    ]
    threads = {"target": 0, "draft": 0, "all": 0} | results.environment.get("threads", {})
    few, many = threads["target"], threads["all"]
    if 0 < few < many < CORES and 0 < threads["draft"] < many:
        # A draft beside the target has as many cores as here.
        beside = replace(on_cores(together, in_turn, threads, CORES - 1), draft=together.draft)
        alone = on_cores(together, in_turn, threads, CORES)
        said.append(
            f"On {CORES} such cores (scaled from {few} and {many} cores by Amdahl's law), φ over vanilla on all "
            f"of them would be {in_words(beside, alone, alpha, places)}."
        )
    free = replace(with_free_rows(in_turn), draft=together.draft)
    seconds, papers = in_turn.target_time(1, CONTEXT), 1 / paper.TABLE_1["Vicuna-7b-v1.5"][VANILLA][-2]
    said.append(
        f"Assume a GPU whose forward pass takes {1e3 * seconds:.0f} ms as here (the paper's 7B target: "
        f"{1e3 * papers:.0f} ms), with 32 tokens as with one, and the draft on a core of this processor: there φ "
        f"over vanilla would be {in_words(free, free, alpha, places)}."
    )
    return " ".join(said)


def in_words(together: CostModel, in_turn: CostModel, alpha: float, places: Places) -> str:
    """Each method's φ, the largest first."""
    phis, beside = estimated_phis(together, in_turn, alpha, places)
    way = {DUOTREE: " (parallel)" if beside else " (sequential)"}
    ranked = sorted(phis, key=lambda lane: -phis[lane])
    parts = [f"{label_of(lane)} {phis[lane]:.2f}{way.get(lane, '')}" for lane in ranked]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def estimated_phis(
    together: CostModel, in_turn: CostModel, alpha: float, places: Places
) -> tuple[dict[str, float], bool]:
    """φ of each method over vanilla with the costs in turn, and whether DuoTree drafts beside the target."""
    ways = duotree_phi(together, in_turn, places, iterations=ITERATIONS)
    slower = in_turn.target_time(1, CONTEXTS[0]) / together.target_time(1, CONTEXTS[0])
    phis = {
        DUOTREE: float(ways.phi),
        SPS: float(speculative_phi(alpha, ratio_of(in_turn), growth(in_turn))),
        DUO: float(duodecoding_phi(alpha, ratio_of(together), growth(together)) * slower),
    }
    return phis, bool(ways.beside > ways.in_turn)


def on_cores(together: CostModel, in_turn: CostModel, threads: dict[str, int], count: int) -> CostModel:
    """The costs on so many cores, of those measured `together` on threads of each side and `in turn` on all.

    Of each time one part is the same on any cores, and the other is divided by their number; neither is below zero.
    """
    many = threads["all"]

    def times(side: str) -> tuple:
        on_few, on_many = np.array(getattr(together, side)), np.array(getattr(in_turn, side))
        divided = np.clip((on_few - on_many) / (1 / threads[side] - 1 / many), 0, on_many * many)
        return fewest(on_many - divided / many + divided / count)

    return CostModel(times("target"), times("draft"))
