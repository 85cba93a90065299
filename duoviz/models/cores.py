"""Which processor cores each side uses, and their names."""

import os
import platform
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from shutil import which


@dataclass(frozen=True)
class Cores:
    """The machine's cores, shared out: target and draft never share one unless there is only one."""

    target: tuple[int, ...]
    draft: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(sorted({*self.target, *self.draft}))

    @property
    def can_overlap(self) -> bool:
        return not set(self.target) & set(self.draft)


def available_cores() -> list[int]:
    """The numbers of the cores that this process may use, ascending."""
    return sorted(os.sched_getaffinity(os.getpid()))


def assign_cores(cores: list[int], *, target_on_gpu: bool) -> Cores:
    """One core for the draft and the rest for the target; with a GPU the target keeps one to drive it."""
    if len(cores) == 1:
        return Cores(target=(cores[0],), draft=(cores[0],))
    if target_on_gpu:
        return Cores(target=(cores[-1],), draft=tuple(cores[:-1]))
    return Cores(target=tuple(cores[1:]), draft=(cores[0],))


@contextmanager
def on_cores(cores: tuple[int, ...], *, threads: int = 0) -> Iterator[None]:
    """Run the calling thread on these cores, with as many threads for torch, or so many.

    Only the calling thread is pinned, and the helpers of its team (see `team`). torch's other threads are made by
    the first computation that wants them, and keep the cores that the caller had then.
    """
    import torch

    before, thread = torch.get_num_threads(), threading.get_native_id()
    mask = os.sched_getaffinity(thread)
    # As in every iteration of a run on all cores.
    if mask == set(cores) and before == (threads or len(cores)):
        yield
        return
    os.sched_setaffinity(thread, cores)
    torch.set_num_threads(threads or len(cores))
    try:
        yield
    finally:
        torch.set_num_threads(before)
        os.sched_setaffinity(thread, mask)


@cache
def machine_name() -> str:
    """The processor's name, as the system gives it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":", 1)[1] for line in lines if line.startswith("model name"))
    # Arm's processors have none there.
    return short_name(next(names, platform.processor() or platform.machine()))


def short_name(name: str) -> str:
    """A processor's name without signs and words that tell nobody which one it is."""
    return " ".join(re.sub(r"\((R|TM)\)|\b(CPU|Processor|\d+-Core)\b", "", name).split())


def lends_gpu() -> bool:
    """Whether this is a Space on ZeroGPU, as Hugging Face's `spaces` package finds it out."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def has_gpu() -> bool:
    """Whether targets will run on a GPU, as far as the system shows it; without torch, which takes long to import."""
    if lends_gpu():
        return True
    return "+cpu" not in version("torch") and (Path("/dev/nvidiactl").exists() or which("nvidia-smi") is not None)


def core_label(cores: tuple[int, ...], borrowed: tuple[int, ...] = ()) -> str:
    """What the page calls these cores, and those that are borrowed; a core is never called a GPU."""
    plural = "s" if len(cores) > 1 else ""
    more = f", then also {numbers(borrowed)}" if borrowed else ""
    return f"CPU core{plural} {numbers(cores)}{more} ({machine_name()})"


def numbers(cores: tuple[int, ...]) -> str:
    """The cores' numbers, ascending, three or more in a row by the first and the last: 0, 1, 4 to 7."""
    rows = groupby(enumerate(cores), lambda numbered: numbered[1] - numbered[0])
    parts = [[core for _, core in row] for _, row in rows]
    return ", ".join(f"{part[0]} to {part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in parts)
