"""Two workers that hold the embedded pair together: what each writes, and what it holds alone.

A program, so that no other test's processes are forked from the one that has the pair.
"""

import json
from functools import partial

import psutil

from duoviz.workers.local import LocalWorker
from duoviz.workers.pool import Pool, WorkerSlot
from duoviz.workers.request_queue import RequestQueue
from tests.until import wait_until
from tests.workers.loads import UNBOUNDED, run_of
from tests.workers.test_local import last_of


def main() -> None:
    pool = Pool([WorkerSlot(start=partial(LocalWorker, shares=True)) for _ in range(2)], RequestQueue(UNBOUNDED, 2))
    pool.start("embedded")
    try:
        wait_until(lambda: all(slot.loaded and not slot.job for slot in pool.slots))
        jobs = [run_of(method) for method in ("vanilla", "duodecoding")]
        for job in jobs:
            pool.submit(job)
        texts = [last_of(job)["end"]["text"] for job in jobs]
        own = [psutil.Process(slot.worker.process.pid).memory_full_info().uss for slot in pool.slots]
        print(json.dumps({"texts": texts, "own": own}))
    finally:
        pool.close()


if __name__ == "__main__":
    main()
