"""What the programs share: arguments, prompts, works that take turns, and what their figures depend on."""

import argparse
import importlib.util
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median
from subprocess import Popen
from typing import Any, TypeVar

import psutil
import torch

from duoviz import runner
from duoviz.models.pair import Pair
from duoviz.trace.agreement import Written

PROMPTS = Path("assets/prompts")
On, Key, T = TypeVar("On"), TypeVar("Key"), TypeVar("T")
HAS_LLAMA_CPP = importlib.util.find_spec("llama_cpp") is not None


def arguments(about: str | None, **defaults: object) -> argparse.ArgumentParser:
    """A parser with an option for each of these names, of its default's type; about: the program's description."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=type(default), default=default)
    return parser


def questions(per_task: int) -> list[str]:
    """The first turns of the first prompts of each task, task by task."""
    files = sorted(PROMPTS.glob("*.jsonl"))
    return [json.loads(line)["turns"][0] for file in files for line in file.read_text().splitlines()[:per_task]]


def spread(prompts: Sequence, count: int) -> list:
    """`count` of the prompts, spread evenly over the tasks, which come one after another."""
    step = len(prompts) / count
    return [prompts[int(index * step)] for index in range(count)]


def beginnings(pair: Pair, tokens: int, count: int, *, python: bool) -> list[str]:
    """So many prompts of so many tokens of this project's documentation, or of Python's own help topics."""
    parts = list(topics.values()) if python else [file.read_text() for file in sorted(Path("docs").glob("*.md"))]
    texts = ["\n".join(parts[number:] + parts[:number]) for number in range(count)]
    return [pair.tokenizer.decode(pair.tokenized([text[: 6 * tokens]], raw=True)[:tokens]) for text in texts]


def alternated(works: Mapping[Key, Callable[[On], T]], items: Sequence[On]) -> dict[Key, list[T]]:
    """What each of the works made of each item; every second item goes through them backwards."""
    found: dict[Key, list[T]] = {name: [] for name in works}
    for number, item in enumerate(items):
        for name in list(works)[:: -1 if number % 2 else 1]:
            found[name].append(works[name](item))
        if len(items) > 1:
            print(f"{number + 1} of {len(items)}", end="\r", flush=True)
    return found


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def milliseconds(works: Mapping[Key, Callable[[], object]], rounds: int) -> dict[Key, float]:
    """The median time of each of the works over rounds in which all take turns, after two rounds to warm up."""
    times = [{key: 1e3 * seconds(work) for key, work in works.items()} for _ in range(2 + rounds)]
    return {key: median(each[key] for each in times[2:]) for key in works}


def ratios(mine: Sequence[float], bases: Sequence[float]) -> list[float]:
    """Each of one work's figures over another work's on the same item."""
    return [figure / base for figure, base in zip(mine, bases, strict=True)]


def over(mine: Sequence[float], bases: Sequence[float]) -> str:
    """The median of the ratios, for a table; a dash where the other work was not done."""
    return f"{median(ratios(mine, bases)):.2f}" if bases else "–"


def machine(pair: Pair) -> str:
    """Versions, cores, the target's device with its threads, and the precisions."""
    device = pair.target_device_label(pair.cores.all)
    return f"{runner.versions()}, {pair.cores}, {device}, {pair.target.precision}, draft {pair.draft.precision}"


def memory_of(server: Popen) -> float:
    """Megabytes that a server and the processes that it started hold, each page once."""
    process = psutil.Process(server.pid)
    return sum(each.memory_full_info().pss for each in (process, *process.children(recursive=True))) / 1e6


def by_transformers(model: Any, ids: list[int], count: int) -> Written:
    """transformers' greedy text after these tokens, with the gap of each token to the next best."""
    prompt = torch.tensor([ids])
    out = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=count, do_sample=False, output_logits=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    best = torch.cat(out.logits).topk(2).values
    return Written(out.sequences[0, len(ids) :].tolist(), (best[:, 0] - best[:, 1]).tolist())
