"""What a run of the Lab consists of: the lanes and their looks, the questions, their order; and how far it is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from duoviz import runs
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.errors import UserError
from duoviz.lab.tasks import SHORT_ANSWER, SHORT_TASKS, Question, in_order, own_questions, read_questions
from duoviz.models.embedded import sha256
from duoviz.runs import Lane

# The names of lanes: of rows, their files and the lines of tables.
VANILLA, TARGET_ONLY = "vanilla", "vanilla-target-cores"
SPS, DUO, DUOTREE = "speculative", "duodecoding", "duotree"
ONE_SEQUENCE, PUBLISHED = f"{DUO}-k1", "DuoDecoding, as published"
# Lanes by what they are called: with settings for what their methods find out for themselves in Table 1; with Table 2's
# fixed numbers of sequences; and with Table 3's distances from the measured γ (one sequence, as in the paper).
VARIANTS = {
    "DuoTree, sequential": Lane("duotree-in-turn", DUOTREE, Settings(overlap="in_turn")),
    "DuoTree, parallel": Lane("duotree-beside", DUOTREE, Settings(overlap="beside")),
    "SpS, γ = 5": Lane("speculative-gamma5", SPS, Settings(budget=5)),
    PUBLISHED: Lane(f"{DUO}-as-published", DUO, Settings(draft_mode="paper")),
}
STATIC = {f"DuoDecoding, k = {k}": Lane(f"{DUO}-k{k}", DUO, Settings(sequences=k)) for k in (1, 2, 3)}
AROUND = {
    f"DuoDecoding, k = 1, γ {shown}": Lane(f"{ONE_SEQUENCE}-gamma{n:+d}", DUO, Settings(sequences=1, budget_offset=n))
    for shown, n in (("−2", -2), ("−1", -1), ("+1", 1), ("+2", 2))
}
# The tasks of the paper's Tables 2 and 3.
FOUR_TASKS = ("mt_bench", "translation", "math_reasoning", "code")


def table_lanes() -> list[str]:
    """Both baselines, then the methods, each as it is by default."""
    return [VANILLA, TARGET_ONLY, *(method for method in METHODS if method != VANILLA)]


def table_1_lanes() -> list[str]:
    """Table 1's lanes, in its order."""
    return [*table_lanes(), *(lane.name for lane in VARIANTS.values())]


def lane_labels() -> dict[str, str]:
    """What each lane is called, in the order of the tables."""
    titles = {method: record.title for method, record in METHODS.items()}
    titles[TARGET_ONLY] = f"{titles[VANILLA]} on {titles[DUO]}'s target cores"
    others = {lane.name: label for label, lane in (VARIANTS | STATIC | AROUND).items()}
    return {lane: titles[lane] for lane in table_lanes()} | others


def label_of(lane: str) -> str:
    """What a lane is called; a name that is not known stands for itself."""
    return lane_labels().get(lane, lane)


# (questions a task, None for all; most new tokens; rounds of warm-up)
QUICK, FULL = (2, 48, 1), (None, 128, 3)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """questions: those to ask, one after another. source: the file that they are from, with its hash, since answers are
    told apart by their questions' numbers; "own" for the prompts that come along. max_new_tokens: of answers; those of
    SHORT_TASKS have SHORT_ANSWER at most. variants: whether VARIANTS run too; ablations: whether the lanes of Tables 2
    and 3 do, and the forwards of Figure 1 are timed."""

    questions: tuple[Question, ...]
    source: str
    methods: tuple[str, ...]
    quick: bool
    max_new_tokens: int
    repeats: int
    warmups: int
    variants: bool = False
    ablations: bool = True

    @property
    def tasks(self) -> list[str]:
        return in_order(question.task for question in self.questions)

    def lanes(self, task: str) -> list[Lane]:
        """What runs on a question of this task."""
        tokens = min(self.max_new_tokens, SHORT_ANSWER) if task in SHORT_TASKS else self.max_new_tokens
        lanes = [Lane(VANILLA, VANILLA, Settings()), Lane(TARGET_ONLY, VANILLA, Settings(cores="target"))]
        lanes += [Lane(method, method, Settings()) for method in self.methods if method != VANILLA]
        if self.variants:
            lanes += [lane for lane in VARIANTS.values() if lane.method in self.methods]
        # Of Tables 2 and 3, on the paper's tasks, or on all where the questions have none of these.
        if self.ablations and DUO in self.methods and (task in FOUR_TASKS or not {*FOUR_TASKS} & {*self.tasks}):
            lanes += [*STATIC.values(), *AROUND.values()]
        return [lane._replace(settings=replace(lane.settings, max_new_tokens=tokens)) for lane in lanes]

    def described(self) -> dict:
        """What is kept of it with the results."""
        return vars(self) | {"questions": len(self.questions), "tasks": self.tasks}


def make_plan(
    *,
    quick: bool = False,
    tasks: Sequence[str] = (),
    file: Path | None = None,
    methods: Sequence[str] = (),
    max_new_tokens: int | None = None,
    repeats: int = 1,
    per_task: int | None = None,
    variants: bool = False,
    ablations: bool = True,
) -> Plan:
    """A plan of what was asked for; nothing said means all tasks, methods and questions. per_task: questions a task.

    Raises UserError.
    """
    for method in methods:
        runs.check_method(method)
    if tasks and file:
        raise UserError("Choose either tasks or a file of questions.")
    if repeats < 1:
        raise UserError("Repeats: enter 1 or more.")
    if per_task is not None and per_task < 1:
        raise UserError("Questions per task: enter 1 or more.")
    usual, tokens, warmups = QUICK if quick else FULL
    questions = read_questions(file) if file else own_questions(tasks)
    tokens = tokens if max_new_tokens is None else max_new_tokens
    Settings(max_new_tokens=tokens)
    return Plan(
        questions=tuple(tasks_in_turn(questions, per_task or usual)),
        source=f"{file.name} SHA-256 {sha256(file)[:8]}" if file else "own",
        methods=tuple(method for method in METHODS if not methods or method in methods),
        quick=quick,
        max_new_tokens=tokens,
        repeats=repeats,
        warmups=warmups,
        variants=variants,
        ablations=ablations,
    )


def tasks_in_turn(questions: Sequence[Question], most: int | None) -> list[Question]:
    """The first question of each task, then the second of each, …, so that a run that is stopped early has seen all
    tasks; most: of a task."""
    by_task = [[q for q in questions if q.task == task][:most] for task in in_order(q.task for q in questions)]
    return [question for column in zip_longest(*by_task) for question in column if question]


class Progress(NamedTuple):
    """How far a run is: answers of all, seconds left (None while nothing is known), and what was just done."""

    done: int
    total: int
    left: float | None
    text: str

    @property
    def words(self) -> str:
        """How far it is, for a reader."""
        if not self.total:
            return "Preparing"
        minutes = None if self.left is None else round(self.left / 60)
        rest = "" if minutes is None else ", less than a minute left" if minutes < 1 else f", about {minutes} min left"
        return f"{self.done} of {self.total} answers{rest if self.done < self.total else ''}"


class Look(NamedTuple):
    """pattern: over its bars, mark: of its points, as Plotly names them, so that colour is not the only sign."""

    colour: str
    pattern: str
    mark: str


# Readable on a light page and on a dark one, and of no hue that the visualizer has for models and guesses: teal, green,
# purple, red and blue.
LOOKS = {
    "vanilla": Look("#8f8f8f", "", "circle"),
    "speculative": Look("#b08a12", "/", "diamond"),
    "prompt_lookup": Look("#6b7426", "x", "triangle-up"),
    "rest": Look("#8c7566", "\\", "cross"),
    "lookahead": Look("#c47c84", "-", "x"),
    "duodecoding": Look("#6479a0", "", "star"),
    "duotree": Look("#d6338f", "|", "hexagon"),
}
OTHER = Look("#6b6b6b", "+", "hexagon2")
# Of lanes that are no method of their own: the baseline on fewer cores, and methods with other settings. Their points
# are marked by their places among all.
LANE_LOOKS = {TARGET_ONLY: LOOKS["vanilla"]._replace(pattern=".")}
LANE_LOOKS |= {lane.name: LOOKS[lane.method]._replace(pattern=".") for lane in VARIANTS.values()}
LANE_LOOKS |= {lane.name: Look("#8494ad", "", "") for lane in (STATIC | AROUND).values()}


def look_of(lane: str) -> Look:
    """A lane's look; all methods that have none of their own share one."""
    return (LOOKS | LANE_LOOKS).get(lane, OTHER)
