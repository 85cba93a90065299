"""The loop: who does what when, what is kept of a verified tree, and how a run ends."""

from contextlib import nullcontext

import pytest
import torch

from duoviz import runner
from duoviz.decoding import METHODS, loop
from duoviz.decoding.costs import Costs
from duoviz.decoding.drafter import Drafter
from duoviz.decoding.forward import PREFILL_CHUNK, Stopped
from duoviz.decoding.iteration import Iteration, Node, Span
from duoviz.decoding.loop import TRY_FIRST, decode, learn
from duoviz.decoding.placement import Placement
from duoviz.decoding.plan import make_plan
from duoviz.decoding.settings import Settings
from duoviz.models.cores import Cores
from duoviz.models.team import BORROWED, NOTHING
from tests.decoding.counting import counting_engine
from tests.decoding.proposals import tokens
from tests.tiny import CORE, change_pair, draft_with, run, tiny_engine

PROMPT = [5, 9, 3] * 60


def watched(engine):
    """What happens, in order: the target's forwards with the threads in force, and what the draft reads."""
    events, target, draft = [], engine.pair.target, engine.draft_beside
    forward, read = target.forward, draft.model.forward

    def watched_forward(ids, **options):
        events.append(("target", len(ids), torch.get_num_threads(), BORROWED.get(NOTHING).cores))
        return forward(ids, **options)

    def watched_read(ids, **options):
        events.append(("draft", len(ids)))
        return read(ids, **options)

    target.forward, draft.model.forward = watched_forward, watched_read
    # As a draft of its own that takes long to read.
    draft.ready = lambda: sum(event[0] == "target" for event in events) > 3
    return events


class Scripted(Drafter):
    """It proposes one tree, again and again, and takes down what the loop asks of it."""

    def __init__(self, *tree):
        self.tree, self.calls = tree, []

    def propose(self, text, longest):
        self.calls.append(("propose", tuple(text), longest))
        return [Node(token, parent, "draft") for token, parent in self.tree]

    def start(self, text, tree):
        self.calls.append(("start", tuple(text), len(tree)))

    def join(self):
        self.calls.append(("join",))
        return []

    def observe(self, text, iteration, target_tokens):
        self.calls.append(("observe", tuple(text), iteration.accepted))
        iteration.budget = 7

    def close(self):
        self.calls.append(("close",))


@pytest.fixture
def scripted(monkeypatch):
    """Lets a drafter of this tree draft for a target that counts; gives the drafter, the engine and the run."""

    def made(*tree, device="cpu", **options):
        drafter, engine = Scripted(*tree), counting_engine()
        engine.pair.target.device = device
        monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
        draft_with(monkeypatch, "vanilla", lambda plan: drafter)
        return drafter, engine, run(engine, "vanilla", [3, 4], Settings(max_new_tokens=4), **options)

    return made


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_drafter_is_asked_in_order(scripted, device):
    """Beside another device the draft starts at once; on the processor nobody disturbs the first token."""
    drafter, _, iterations = scripted((6, -1), device=device)
    assert [iteration.budget for iteration in iterations] == [7, 7, 7]
    assert drafter.calls == [
        *[("start", (3, 4), 0)][: device != "cpu"], ("join",), ("observe", (3, 4, 5), 0),
        ("propose", (3, 4, 5), 2), ("start", (3, 4, 5), 1), ("join",), ("observe", (3, 4, 5, 6, 7), 1),
        ("propose", (3, 4, 5, 6, 7), 0), ("start", (3, 4, 5, 6, 7), 1), ("join",), ("observe", (3, 4, 5, 6, 7, 8), 0),
        ("close",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "tree, path",
    [
        ([], []),
        ([(9, -1)], []),
        ([(6, -1), (7, 0), (9, 1)], [6, 7]),
        ([(9, -1), (6, -1), (6, 0), (7, 1), (9, 3)], [6, 7]),
        ([(9, -1), (9, 0), (8, -1)], []),
    ],
    ids=["nothing", "a refused chain", "a chain", "a tree", "a refused tree"],
)
def test_a_rollback_keeps_the_accepted_path(scripted, tree, path):
    _, engine, iterations = scripted(*tree)
    next(iterations)
    second = next(iterations)
    assert tokens([second]) == [*path, 6 + len(path)]
    assert engine.pair.target.tokens == [3, 4, 5, *path]


def test_a_run_ends_where_it_is_stopped_and_its_drafter_with_it(scripted):
    glances = []
    drafter, _, iterations = scripted(stopped=lambda: len(glances) > 1)
    for _ in range(2):
        next(iterations)
        glances.append(1)
    with pytest.raises(Stopped):
        next(iterations)
    assert drafter.calls[-1] == ("close",) and [call[0] for call in drafter.calls].count("observe") == 2
    drafter, _, iterations = scripted()
    next(iterations), iterations.close()
    assert drafter.calls[-1] == ("close",)


@pytest.mark.parametrize("method", METHODS)
def test_the_target_reads_the_prompt_first_and_with_all_cores(method, store):
    """Then it has the run's own, and with DuoDecoding the draft's as soon as that is done."""
    engine = change_pair(tiny_engine(), cores=Cores(target=(CORE,), draft=(CORE + 1,)))
    engine.pair.target.joinable = True
    events = watched(engine)
    settings = Settings(overlap="beside", cores="target", max_new_tokens=9, rest_datastore=store)
    run = runner.stream(engine, method, "x" * len(PROMPT), settings)
    assert [next(run)["type"], next(run)["type"]] == ["header", "iteration"]
    assert events == [("target", PREFILL_CHUNK, 2, ()), ("target", len(PROMPT) - PREFILL_CHUNK, 2, ())]
    list(run)
    borrowed = (CORE + 1,) if method == "duodecoding" else ()
    assert {event[2:] for event in events[2:] if event[0] == "target"} == {(1, borrowed)}
    assert (("draft", PREFILL_CHUNK) in events) == METHODS[method].draft


@pytest.mark.parametrize(("beside", "expected"), [(True, 0.01), (False, 0.004)])
def test_overhead_is_what_is_left_of_an_iteration_without_the_models_it_waited_for(beside, expected):
    costs, seen = Costs(), []
    costs.observe_overhead = seen.append
    iteration = Iteration(
        target=Span(0, 0.03, 2), sync=0.03, checked=[], drafted=[], committed=[], draft=[Span(-0.006, 0, 1)]
    )
    learn(costs, iteration, 5, beside=beside, seconds=0.04)
    assert seen == [pytest.approx(expected)]


def test_other_cores_are_tried_for_two_iterations_where_no_run_has_lately(monkeypatch):
    engine, taken = change_pair(tiny_engine(), cores=Cores(target=(CORE,), draft=(999,))), []
    monkeypatch.setattr(loop, "on_cores", lambda cores: taken.append(cores) or nullcontext())
    # However slow this machine is, and whatever it does beside.
    monkeypatch.setattr(loop, "LATELY", 1e6)

    def tried(**settings):
        plan = make_plan(engine, METHODS["vanilla"], "hello", Settings(max_new_tokens=60, **settings))
        # The prompt is read on all cores.
        return [number for number, _ in enumerate(decode(plan)) if number and taken[-1] != plan.placement.cores]

    engine.kept_costs.clear()
    assert tried() == [TRY_FIRST, TRY_FIRST + 1] and set(taken) == {(CORE,), (CORE, 999)}
    # Costs learn from the second iteration on other cores, and not from the prompt nor where others may be tried.
    assert [engine.costs(Placement(False, cores)).target.count for cores in ((CORE,), (CORE, 999))] == [1, 60 - 4]
    assert tried() == [] and tried(cores="target") == []
    for learned in engine.kept_costs.values():
        learned.target.seen = 0.0
    assert tried() == [TRY_FIRST, TRY_FIRST + 1]
