"""What the tests of faults run in processes of their own: `report`, or `convert SIZE SHA256`."""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection

from duoviz import runner
from duoviz.decoding.draft_worker import MeasureRequest
from duoviz.decoding.settings import Settings
from duoviz.models import embedded
from duoviz.models.cores import available_cores, share_cores
from duoviz.models.language_model import LanguageModel
from duoviz.models.pairs import Pair
from tests.conftest import near_copy, reference_model, tiny_pair, weights
from tests.weights import decoder

SETTINGS = Settings(max_new_tokens=120)


def pair_with_draft(load: Callable[[dict, dict], LanguageModel] = decoder) -> Pair:
    """The tiny pair on this machine's cores, whose draft is started as a real one is; load: makes it of its weights."""
    pair = tiny_pair()
    del pair.resources["draft"]
    pair.load_draft = partial(load, *weights(near_copy(reference_model(0), 0.15)))
    pair.cores = share_cores(available_cores(), target_on_gpu=False)
    return pair


def warm_up(pair: Pair) -> None:
    """Let the draft make its first forwards, which take longer than a whole run of the tiny target's."""
    runner.prepare(pair, "duodecoding")
    draft = pair.resources["draft"]
    draft.submit(MeasureRequest(context=4, seconds=0.0))
    draft.result()


def report() -> dict:
    """Vanilla and DuoDecoding on the tiny pair: texts, labels, overlap, and how the draft ran."""
    pair = pair_with_draft()
    methods = ("vanilla", "duodecoding")
    warm_up(pair)
    traces = {method: runner.collect(runner.stream(pair, method, "hello", SETTINGS)) for method in methods}
    draft = pair.resources["draft"]
    draft.close()
    header = traces["duodecoding"]["header"]
    return {
        "texts": [traces[method]["end"]["text"] for method in methods],
        "tested": sum(each["verdict"]["tested"] for each in traces["duodecoding"]["iterations"]),
        "overlap": runner.summary(traces["duodecoding"])["metrics"]["overlap"],
        "devices": [header["target"]["device"], header["draft"]["device"]],
        "draft": type(draft).__name__,
        "cores": [len(pair.cores.target), len(pair.cores.draft)],
    }


def send_report(pipe: Connection) -> None:
    pipe.send(report())


def convert(size: str, digest: str) -> None:
    """Fetch and convert a gguf of this size and sha256, and hang while its weights are unpacked."""
    embedded.GGUF_SIZE, embedded.GGUF_SHA256 = int(size), digest
    embedded.embedded_target(hang_in_the_middle)


def hang_in_the_middle(fraction: float, text: str) -> None:
    if text.startswith("Unpacking"):
        print("converting", flush=True)
        time.sleep(60)


if __name__ == "__main__":
    if sys.argv[1] == "report":
        print(json.dumps(report()))
    else:
        convert(*sys.argv[2:])
