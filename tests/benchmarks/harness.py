"""What the programs share: arguments, prompts, alternated rounds, and what their figures depend on."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from duoviz import runner
from duoviz.models.pair import Pair

PROMPTS = Path("assets/prompts")
T = TypeVar("T")


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


def tasked(per_task: int) -> list[tuple[str, str]]:
    """(task, first turn) of the first prompts of each task, task by task."""
    files = sorted(PROMPTS.glob("*.jsonl"))
    return [
        (file.stem, json.loads(line)["turns"][0]) for file in files for line in file.read_text().splitlines()[:per_task]
    ]


def questions(per_task: int) -> list[str]:
    """The first prompts of each task, task by task."""
    return [prompt for _, prompt in tasked(per_task)]


def spread(prompts: Sequence, count: int) -> list:
    """`count` of the prompts, spread evenly over the tasks, which come one after another."""
    step = len(prompts) / count
    return [prompts[int(index * step)] for index in range(count)]


def counted(items: Iterable[T], total: int) -> Iterator[T]:
    """The items; how many of the total are done is printed."""
    for number, item in enumerate(items, 1):
        yield item
        print(f"{number} of {total}", end="\r", flush=True)


def alternated(works: Mapping[str, Callable[[], T]], rounds: int, *, first: int = 0) -> dict[str, list[T]]:
    """What each of the works gave in each round; every second round goes through them backwards.

    first: the number of the first round.
    """
    found: dict[str, list[T]] = {name: [] for name in works}
    for number in range(first, first + rounds):
        for name in list(works)[:: -1 if number % 2 else 1]:
            found[name].append(works[name]())
    return found


def machine(pair: Pair) -> str:
    """Versions, cores, the target's device with its threads, and the precisions."""
    device, precisions = (
        pair.target_device_label(pair.cores.all),
        f"{pair.target.precision}, draft {pair.draft.precision}",
    )
    return f"{runner.versions()}, {pair.cores}, {device}, {precisions}"


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Loops beside the runs that never wait."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
