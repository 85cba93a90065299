"""How torch's threads wait for each other; set before torch is imported, which reads it once."""

import os

# Threads that wait spin for so many rounds and then sleep. GNU OpenMP's own 300,000 keep a thread on its core for
# milliseconds that a neighbour on the same machine, or the thread waited for, could use.
SPINS = 2_000


def be_a_good_neighbour() -> None:
    """Let waiting threads sleep soon, unless the environment says how they wait."""
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", str(SPINS))
