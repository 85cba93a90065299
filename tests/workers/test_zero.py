"""Workers on ZeroGPU, on a processor: forks of the test's own process, which a stand-in for `spaces` makes."""

import multiprocessing
import sys
import threading
from contextvars import ContextVar, copy_context

import psutil
import pytest

from duoviz.decoding import METHODS
from duoviz.models.registry import first_pair
from duoviz.workers import zero
from tests.children import engine_with_draft
from tests.starts import forking
from tests.until import has_ended, wait_until
from tests.workers.loads import last_of, pool_of, run_of, running, text_of, texts, tiny

CONTEXT = multiprocessing.get_context("fork")
VISITOR = ContextVar("visitor", default="nobody")


class Refusal(Exception):
    title = "ZeroGPU quota exceeded"

    def __init__(self, message):
        super().__init__(repr(message))
        self.message = message


class Aborted(Exception):
    title = "ZeroGPU worker error"


class Spaces:
    """What stands in for Hugging Face's `spaces` package: its decorator forks, as its own does, and lends no GPU.

    asked: (visitor, seconds) of each call. processes: all forks. given: seconds that the device gives instead.
    """

    def __init__(self):
        self.asked, self.processes, self.idle, self.refused, self.given = [], [], [], False, None

    def GPU(self, duration):
        def decorate(task):
            def call(*arguments):
                yield from self.call(task, arguments, duration(*arguments))

            return call

        return decorate

    def call(self, task, arguments, seconds):
        self.asked.append((VISITOR.get(), seconds))
        if self.refused:
            raise Refusal("You have exceeded your ZeroGPU quota (60s requested vs. 20s left). Try again in 1:00:00. ")
        fork = self.idle.pop() if self.idle else self.fork(task)
        process, pipe = fork
        pipe.send(arguments)
        timer = threading.Timer(self.given or seconds, process.kill)
        timer.start()
        try:
            while (event := pipe.recv()) is not None:
                yield event
        except EOFError:
            raise Aborted("GPU task aborted") from None
        finally:
            timer.cancel()
        self.idle.append(fork)

    def fork(self, task):
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(target=serve, args=(task, theirs, ours), daemon=True)
        process.start()
        theirs.close()
        self.processes.append(process)
        return process, ours


def serve(task, pipe, parents):
    parents.close()
    while True:
        for event in task(*pipe.recv()):
            pipe.send(event)
        pipe.send(None)


pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def served():
    """(the stand-in, a pool of two places)."""
    spaces, core = Spaces(), zero.available_cores()[0]
    with pytest.MonkeyPatch.context() as patch, forking():
        for name in ("endless", "stubborn"):
            patch.setitem(METHODS, name, METHODS["vanilla"])
        tiny("", None, draft=False, make=lambda: None)
        patch.setitem(sys.modules, "spaces", spaces)
        patch.setattr(zero, "available_cores", lambda: [core, core])
        slots = zero.zero_slots("embedded", "2", 60, lambda name: engine_with_draft().pair)
        with pool_of(slots, "embedded") as pool:
            yield spaces, pool
        wait_until(lambda: all(has_ended(place.draft.process.pid) for place in zero.PLACES))
    for process in spaces.processes:
        process.kill()


@pytest.fixture
def spaces(served):
    return served[0]


@pytest.fixture
def pool(served):
    wait_until(lambda: all(slot.loaded and not slot.job for slot in served[1].slots))
    return served[1]


def test_ten_runs_use_one_fork_and_its_memory_again(pool, spaces):
    prompts, before = [f"tell me {number}" for number in range(10)], len(spaces.processes)
    written, memory = [], []
    for prompt in prompts:
        written.append(text_of(pool, run_of("duodecoding", prompt)))
        memory.append(psutil.Process(spaces.processes[-1].pid).memory_info().rss)
    assert written == texts(prompts) and len(spaces.processes) <= before + 1
    assert memory[-1] - memory[4] < 5e6
    # A GPU is asked for the whole limit only until forward passes have been measured.
    assert max(seconds for _, seconds in spaces.asked[-9:]) < zero.BEGINNING + 60


def test_two_at_once_one_stopped_one_past_its_duration(pool, spaces):
    stopped, other = run_of("endless"), run_of("endless")
    # Two forks, for the test before left one at most.
    running(pool, stopped, other)
    stopped.stop.set()
    assert last_of(stopped)["end"]["stopped"] == "stopped" and not other.future.done()
    assert text_of(pool, run_of("duodecoding", "tell me")) == texts(["tell me"])[0] and len(spaces.processes) == 2
    other.stop.set()
    last_of(other)
    spaces.given = 0.5
    late = run_of("endless")
    pool.submit(late)
    assert last_of(late)["message"].startswith("ZeroGPU took the GPU back: a run may not take longer than it asked")
    spaces.given = None
    assert [text_of(pool, run_of("duodecoding", "tell me")) for _ in range(3)] == texts(["tell me"]) * 3


def test_a_refused_quota_is_one_sentence_and_it_is_the_visitors(pool, spaces):
    spaces.refused, before = True, len(spaces.processes)
    context = copy_context()
    context.run(VISITOR.set, "ann")
    job = context.run(run_of)
    pool.submit(job)
    told = last_of(job)["message"]
    assert told.startswith("ZeroGPU lends no GPU for this run (You have exceeded your ZeroGPU quota (60s requested")
    assert told.endswith("1:00:00): log in on huggingface.co for a larger quota, or try again later.")
    assert spaces.asked[-1][0] == "ann" and len(spaces.processes) == before
    pool.submit(other := run_of(pair="smollm2-1.7b"))
    assert last_of(other)["message"].startswith("On ZeroGPU this page has one pair, embedded.")
    spaces.refused = False
    assert text_of(pool, run_of("vanilla", "tell me")) == texts(["tell me"])[0]


def test_the_first_pair_there_is_one_for_which_a_draft_pays(monkeypatch):
    monkeypatch.delenv("DUOVIZ_PAIR", raising=False)
    assert first_pair() == "embedded"
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    assert first_pair() == "embedded-as-llama-2-7b"
    monkeypatch.setenv("DUOVIZ_PAIR", "smollm2-1.7b")
    assert first_pair() == "smollm2-1.7b"


def test_what_is_asked_for_follows_prompt_tokens_and_costs(pool):
    place = zero.PLACES[0]
    place.pass_seconds.value, place.row_seconds.value = 0.02, 0.001

    def asked(prompt="hi", tokens=100):
        return zero.seconds_for(place, run_of(prompt=prompt, tokens=tokens).task, 60)

    assert asked() == zero.BEGINNING + 4 and asked(tokens=200) == zero.BEGINNING + 8
    assert asked(prompt="x" * 2000) == zero.BEGINNING + 6 and asked(tokens=4096) == zero.BEGINNING + 60
