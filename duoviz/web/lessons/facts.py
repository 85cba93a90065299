"""What a lesson's text may name: figures of recorded runs, of which none is ever typed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from statistics import mean, median_high

import numpy as np

from duoviz.decoding import METHODS
from duoviz.decoding.theory import in_turn_speed, run_of
from duoviz.models.embedded import TARGET_LABEL
from duoviz.models.sizes import PARAMETERS
from duoviz.recordings import ROUNDS
from duoviz.trace.agreement import written
from duoviz.trace.metrics import iteration_seconds, metrics
from duoviz.web.lessons.iterations import Iteration, guesses, names_of
from duoviz.web.lessons.text import Mistake, one_of
from duoviz.web.results_store import averages, first_view_of, in_words, said_below

FLOAT32_BYTES = 4
# What an expression may ask of a run, besides T_target and T_draft.
ASKED = (
    "rows_within", "steps_that_fit", "usual_guesses", "expected_tokens", "expected_speed_up", "best_guesses",
    "weight_bytes", "step_time", "phi", "lab_phi", "lab_phi_in_int8", "lab_phi_as_published", "lab_steps", "lab_said",
    "other_runs", "same_text",
)  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What a page's figures are read from.

    traces: the recorded trace of each method. method: the page's. iteration: the one shown, None where the page shows
    the whole text. places: what both models expected at each place of the recorded text (`recordings.places`).
    metrics: of each trace.
    """

    traces: dict[str, dict]
    method: str
    iteration: Iteration | None = None
    places: Sequence[list[dict]] = ()
    metrics: dict[str, dict] = field(default_factory=dict)

    def __post_init__(self):
        for method in self.traces.keys() - self.metrics.keys():
            self.metrics[method] = metrics(self.traces[method])

    def of(self, method: str) -> "Facts":
        """The same of another method's run. Raises Mistake."""
        one_of(method, METHODS, f'there is no method "{method}"')
        if method not in self.traces:
            raise Mistake(f"there is no recorded run of {method} yet: `python -m duoviz record`")
        return replace(self, method=method)

    @property
    def trace(self) -> dict:
        return self.traces[self.method]

    @property
    def names(self) -> dict:
        """What an expression may name; README.md in the lessons' folder lists it."""
        runs = {name: self.of(name).run for name in self.traces}
        return runs | self.run | (names_of(self.iteration) if self.iteration else {})

    @property
    def run(self) -> dict:
        """What an expression may name of one run: its header, its metrics, and what is computed where it is asked."""
        about = self.trace["header"] | self.metrics[self.method]
        about |= {"iteration_time": iteration_seconds(self.trace), "rounds": ROUNDS}
        about |= {f"T_{side}": partial(self.cost, side) for side in ("target", "draft")}
        return about | {name: getattr(self, name) for name in ASKED}

    def calibration(self, side: str) -> list[tuple[int, float]]:
        """[[count, seconds], …] of the target's forward by rows or the draft's step by sequences.

        Fewer take no longer than more do: they could be padded to them.
        """
        calibration = self.trace["header"].get("calibration")
        if not calibration:
            raise Mistake(f"the run of {self.method} has no calibration, for its method has no draft")
        counts, times = zip(*calibration[side], strict=True)
        return list(zip(counts, np.minimum.accumulate(times[::-1])[::-1].tolist(), strict=True))

    def cost(self, side: str, count: int) -> float:
        """Calibrated seconds of the target's forward with `count` rows or the draft's step of `count` sequences."""
        counts, times = zip(*self.calibration(side), strict=True)
        if not counts[0] <= count <= counts[-1]:
            raise Mistake(f"the calibration goes from {counts[0]} to {counts[-1]}, and {count} is beyond it")
        return float(np.interp(count, counts, times))

    def rows_within(self, factor: float) -> int:
        """How many rows, at most, one target forward has that takes no longer than `factor` forwards of one row."""
        limit, (last, _) = factor * self.cost("target", 1), self.calibration("target")[-1]
        return max(rows for rows in range(1, last + 1) if self.cost("target", rows) <= limit)

    def steps_that_fit(self, rows: int) -> int:
        """γ by the calibration: how many draft steps fit into one target forward of so many rows; at least 1."""
        return max(1, int(self.cost("target", rows) / self.cost("draft", 1)))

    def usual_guesses(self) -> int:
        """The median number of proposed tokens that a target forward checks, the prompt's apart; at least 1."""
        return max(1, median_high([len(guesses(iteration)) for iteration in self.trace["iterations"][1:]] or [1]))

    def expected_tokens(self, guesses: int | None = None) -> float:
        """Tokens a target forward by theory, of a method that takes turns: 1 + α + … + α^γ, α being the acceptance and
        γ the guesses; None: as many as usual.
        """
        return float(run_of(self.metrics[self.method]["acceptance"], guesses or self.usual_guesses()))

    def expected_speed_up(self, guesses: int | None = None) -> float:
        """φ by theory, of a method that takes turns, with so many guesses; None: as many as usual."""
        target, alpha = partial(self.cost, "target"), self.metrics[self.method]["acceptance"]
        speed = in_turn_speed(alpha, guesses or self.usual_guesses(), target=target, draft=self.step_time())
        return float(speed * target(1))

    def best_guesses(self, most: int) -> int:
        """The γ, from 1 to `most`, with the greatest φ by theory."""
        return max(range(1, most + 1), key=self.expected_speed_up)

    def step_time(self) -> float:
        """Mean seconds of the run's draft steps of one token. Raises Mistake where it has none."""
        steps = [step for iteration in self.trace["iterations"] for step in iteration["draft"] if step["tokens"] == 1]
        if not steps:
            raise Mistake(f"the run of {self.method} has no draft steps")
        return mean(step["end"] - step["start"] for step in steps)

    def weight_bytes(self) -> int:
        """Bytes of the target's weights. Raises Mistake where it is not the embedded pair's in float32."""
        if self.trace["header"]["target"]["name"] != TARGET_LABEL:
            raise Mistake("how many weights this target has is not known")
        return FLOAT32_BYTES * PARAMETERS

    @cached_property
    def speeds(self) -> dict[str, float]:
        """Tokens per second of all recorded runs, which answer one prompt; vanilla's first."""
        if "vanilla" not in self.traces:
            raise Mistake("there is no recorded run of vanilla to compare with")
        return {name: self.metrics[name]["tps"] for name in METHODS if name in self.traces}

    def other_runs(self) -> int:
        """How many recorded runs there are besides vanilla's."""
        return len(self.speeds) - 1

    def same_text(self) -> int:
        """How many of the other runs wrote vanilla's tokens."""
        vanilla, *others = (written(self.traces[name]).ids for name in self.speeds)
        return others.count(vanilla)

    def lab_phi(self) -> str:
        """φ over the prompts of the Lab's results on two cores, with its noise. Raises Mistake."""
        return self.phi_in("two-cores")

    def lab_phi_in_int8(self) -> str:
        """`lab_phi`, where the target is in int8."""
        return self.phi_in("with-an-int8-target")

    def lab_phi_as_published(self) -> str:
        """`lab_phi` of DuoDecoding without what we changed. Raises Mistake."""
        found = averages("two-cores").get(METHODS[self.method].title, {}).get("published")
        if found is None:
            raise Mistake(f"no results that come along have {self.method} as published")
        return f"{found:.2f}"

    def lab_steps(self) -> str:
        """Draft steps per target pass in the Lab's results on two cores, where both take turns. Raises Mistake."""
        if not (view := first_view_of("two-cores")):
            raise Mistake("no results of two cores come along")
        return f"{view['overview']['pays']['start']['steps']:.1f}"

    def lab_said(self, part: str) -> str:
        """What the Lab's results on two cores say first below one of their tables. Raises Mistake."""
        if not (said := said_below("two-cores", part)):
            raise Mistake(f"no results of two cores come along, or they have no {part}")
        return said

    def phi_in(self, results: str) -> str:
        if not (found := averages(results).get(METHODS[self.method].title)):
            raise Mistake(f"no results that come along have {self.method}")
        return in_words(found)

    def phi(self) -> float:
        """The speed-up φ: tokens per second over vanilla's."""
        return self.speeds[self.method] / self.speeds["vanilla"]
