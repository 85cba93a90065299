"""Two places that hold the embedded pair together: what each writes, and what it holds alone.

A program, so that no other test's processes are forked from the one that has the pair.
"""

import json
from functools import partial

import psutil

from duoviz.places.line import UNBOUNDED, Line
from duoviz.places.local import LocalPlace
from duoviz.places.pool import Pool, Seat
from tests.places.loads import run_of
from tests.places.test_local import last_of
from tests.until import wait_until


def main() -> None:
    pool = Pool([Seat(start=partial(LocalPlace, shares=True)) for _ in range(2)], Line(UNBOUNDED, 2))
    pool.start("embedded")
    try:
        wait_until(lambda: all(seat.loaded and not seat.job for seat in pool.seats))
        jobs = [run_of(method) for method in ("vanilla", "duodecoding")]
        for job in jobs:
            pool.submit(job)
        texts = [last_of(job)["end"]["text"] for job in jobs]
        own = [psutil.Process(seat.place.process.pid).memory_full_info().uss for seat in pool.seats]
        print(json.dumps({"texts": texts, "own": own}))
    finally:
        pool.close()


if __name__ == "__main__":
    main()
