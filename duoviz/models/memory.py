"""How much memory is free: on this machine, and in the container that the process may live in."""

from pathlib import Path

import torch

# Where a container's limit and what it uses of it stand: of control groups version 2, and of version 1, as in
# https://docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/memory.html.
ONE, TWO = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
GROUPS = (
    (TWO / "memory.max", TWO / "memory.current", TWO / "memory.stat"),
    (ONE / "memory.limit_in_bytes", ONE / "memory.usage_in_bytes", ONE / "memory.stat"),
)


def free_memory(device: str) -> int:
    """Bytes of memory that are free on a device."""
    if device != "cpu":
        return torch.cuda.mem_get_info(device)[0]
    limits = (free_in_group(*files) for files in GROUPS)
    return min([free_on_machine(), *(free for free in limits if free is not None)])


def free_on_machine() -> int:
    """Bytes."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def free_in_group(limit: Path, used: Path, stat: Path) -> int | None:
    """Bytes that a container's limit leaves, None without one; pages of files that it may drop count as free."""
    try:
        allowed, taken = int(limit.read_text()), int(used.read_text())
        rows = dict(line.split() for line in stat.read_text().splitlines())
    except (OSError, ValueError):
        return None  # no container, or none with a limit
    return allowed - taken + int(rows.get("inactive_file", 0))
