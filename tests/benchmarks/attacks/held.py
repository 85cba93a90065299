"""The table of what held: right texts, no file of the host's given out or left behind, drafts and places replaced."""

import signal
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from urllib.parse import quote

import psutil

from tests.app import ROOT
from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site, place_of, started

CLIENTS, RUNS = 12, 3
METHODS = ("vanilla", "speculative", "duodecoding", "prompt_lookup")


@attack("held", "every text is right, and no partial text is another's")
def right_texts(site: Site) -> Result:
    """Clients at once, each with prompts of its own, and the same alone."""
    prompts = [
        f"Name {number} things that are {word}."
        for number in (2, 3, 4)
        for word in "red cold tall loud soft old".split()
    ]
    prompts = (prompts * 2)[: CLIENTS * RUNS]
    alone = site.client()
    expected = {prompt: run(alone, prompt, "vanilla")[-1]["text"] for prompt in set(prompts)}

    def visit(number: int) -> list[tuple[str, list[dict]]]:
        client = site.client()
        mine = prompts[number * RUNS : (number + 1) * RUNS]
        return [(prompt, run(client, prompt, METHODS[(number + at) % len(METHODS)])) for at, prompt in enumerate(mine)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        found = [each for runs in pool.map(visit, range(CLIENTS)) for each in runs]
    right = sum(outputs[-1]["text"] == expected[prompt] for prompt, outputs in found)
    partial = [(prompt, output["text"]) for prompt, outputs in found for output in outputs[:-1]]
    foreign = sum(not expected[prompt].startswith(text) for prompt, text in partial)
    told = f"{right} of {len(found)} right; {foreign} of {len(partial)} partial texts foreign"
    return Result(f"{CLIENTS} clients at once, {RUNS} runs each", told, right == len(found) and not foreign)


def run(client, prompt: str, method: str) -> list[dict]:
    """All outputs of a run; the last is its summary."""
    job = client.submit(prompt=prompt, method=method, max_new_tokens=12, api_name="/generate")
    return [*job]


@attack("held", "none of the host's files is given out", kind="space")
def files(site: Site) -> Result:
    targets = ["/etc/passwd", "/proc/self/environ", f"{ROOT}/README.md", f"{ROOT}/duoviz/__init__.py", "/etc/hostname"]
    ways = ["/gradio_api/file={}", "/file={}", "/gradio_api/file/{}", "/recordings/0/{}", "/static/{}", "/assets/{}",
            "/svelte/{}", "/gradio_api/custom_component/x/client/component/{}", "/gradio_api/proxy={}"]  # fmt: skip
    shapes = [lambda path: path, lambda path: quote(path, safe=""), lambda path: "../" * 12 + path.lstrip("/"),
              lambda path: "..%2f" * 12 + quote(path.lstrip("/"), safe=""), lambda path: "//" + path,
              lambda path: "....//" * 12 + path.lstrip("/"), lambda path: f"file://{path}"]  # fmt: skip
    given = [0, 0]
    for target, way, shape in product(targets, ways, shapes):
        status, _, content = site.ask("GET", way.format(shape(target)))
        given[0] += 1
        given[1] += status == 200 and any(
            mark in content for mark in ("root:x:", "PATH=", "duoviz is", "sdk: gradio", '"""')
        )
    sent = [{"rest_datastore": path, "prompt": "x", "method": "rest"} for path in targets]
    told = [site.ask("POST", "/gradio_api/call/v2/generate", body)[0] for body in sent]
    return Result(
        f"{given[0]} addresses, {len(sent)} settings", f"{given[1]} given; {told}", not given[1] and set(told) == {422}
    )


@attack("held", "the run says so, and the next one has another draft")
def killed_drafts(site: Site) -> Result:
    right, said = killed(site, Site.busiest_draft, 5, "draft process died")
    return Result("5 drafts killed", f"{right} of 5 next runs right; {said} runs said so", right == 5)


@attack("held", "its run ends with a sentence, and the next ones are right")
def killed_places(site: Site) -> Result:
    right, said = killed(site, lambda site: place_of(site.busiest_draft()), 3, "was killed or ran out of memory")
    return Result("3 places killed", f"{right} of 3 next runs right; {said} runs said so", right == 3)


def killed(site: Site, victim: Callable[[Site], psutil.Process], times: int, sentence: str) -> tuple[int, int]:
    """Kill a process in the middle of a run, so many times: how many next runs were right, how many runs said it."""
    visitor = site.client()
    expected = site.run_of(visitor, method="duodecoding", max_new_tokens=48)[1]["text"]
    right = said = 0
    for _ in range(times):
        timer = threading.Timer(0.3, victim(site).kill)
        timer.start()
        try:
            end = str(site.run_of(visitor, method="duodecoding", max_new_tokens=256)[1])
        except Exception as error:
            end = str(error)
        timer.join()
        said += sentence in end
        right += site.run_of(visitor, method="duodecoding", max_new_tokens=48)[1]["text"] == expected
    return right, said


@attack(
    "11 left behind", "only the empty lock of measuring stays after an end, and after the start that follows a kill"
)
def temporary_folder(_site: Site) -> list[Result]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, number in (("SIGTERM", signal.SIGTERM), ("SIGKILL, then a start and SIGTERM", signal.SIGKILL)):
            with started("local", Path(folder)) as site:
                site.run_of(site.client())
                site.process.send_signal(number)
                site.process.wait(60)
            if number == signal.SIGKILL:
                with started("local", Path(folder)) as site:
                    site.run_of(site.client())
            left = [each for each in site.scratch.glob("duoviz*") if each.suffix != ".lock" or each.stat().st_size]
            found.append(Result(name, f"left beside it: {[each.name for each in left]}", not left))
    return found
