"""Workers as Ray actors, on this machine or on the nodes of a cluster."""

import os
import threading
from functools import partial
from importlib import import_module
from multiprocessing import Pipe
from typing import Any

from duoviz.errors import UserError, first_line
from duoviz.folders import ASSETS
from duoviz.models.bounds import expend
from duoviz.models.cores import available_cores
from duoviz.workers.local import AUTO, number_of_workers, shares
from duoviz.workers.pool import WorkerSlot
from duoviz.workers.tasks import WorkerDied, WorkerGone

LOCAL = "local"
MISSING = "Ray is not installed, which workers on a cluster need: pip install .[cluster]."
LOST = "The worker of this run, on {}, was lost"


def connect(address: str) -> Any:
    """Ray, connected to a cluster, or to one of this machine's own. Raises UserError."""
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise UserError(MISSING) from None
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "ignore_reinit_error": True}
    if address == LOCAL:
        # Whoever starts it here may not have installed duoviz.
        path = os.pathsep.join(filter(None, [str(ASSETS.parent), os.environ.get("PYTHONPATH")]))
        options |= {"num_cpus": len(available_cores()), "include_dashboard": False}
        options |= {"runtime_env": {"env_vars": {"PYTHONPATH": path}}}
        # Ray gives its workers niceness 15: beside other work they get next to no processor time.
        os.environ.setdefault("RAY_worker_niceness", "0")
    # Whoever connects says itself what a signal ends.
    ray._private.utils.set_sigterm_handler = lambda handler: None
    try:
        ray.init(address=address, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UserError(f"There is no Ray cluster at {address}: {first_line(error)}.") from error
    return ray


def cluster_slots(address: str, chosen: str | None = None, load: Any = None) -> list[WorkerSlot]:
    """The workers of a cluster: of each node as many as `number_of_workers` says, or one for each GPU.

    load: see `LocalWorker`. Raises UserError.
    """
    ray = connect(address)
    slots = []
    for node in ray.nodes():
        cores, gpus = (int(node["Resources"].get(name, 0)) for name in ("CPU", "GPU"))
        if not node["Alive"] or not cores:
            continue
        count = min(gpus, cores) or number_of_workers(chosen or os.environ.get("DUOVIZ_PLACES") or AUTO, cores)
        options = {"num_cpus": cores // count, "num_gpus": gpus // count}
        for number in range(count):
            start = partial(RayWorker, ray, node["NodeID"], number, count, options, load)
            slots.append(WorkerSlot(start=start, machine=node["NodeID"]))
    if not slots:
        raise UserError(f"The Ray cluster at {address} has no node with a processor.")
    return slots


class Actor:
    """What runs on a node: a `Worker` on a thread of its own, whose pipe Ray leads on."""

    def __init__(self, number: int, count: int, load: Any):
        # A node's workers share its cores as those of one machine do; torch reads once how many it has.
        share = set(shares(available_cores(), count)[number])
        for thread in (0, os.getpid()):
            os.sched_setaffinity(thread, share)
        os.environ["OMP_NUM_THREADS"] = str(len(share))
        from duoviz.decoding.engine import load_engine
        from duoviz.workers.worker import Worker, serve

        expend()
        self.pipe, theirs = Pipe()
        worker = Worker(theirs.send, load or load_engine)
        threading.Thread(target=serve, args=(theirs, worker), daemon=True).start()

    def events(self):
        """The events of all assignments, as they happen."""
        while True:
            yield self.pipe.recv()

    def tell(self, message: Any) -> None:
        self.pipe.send(message)


class RayWorker:
    """A `WorkerHandle` of an actor: the worker of this number, of so many on a node. options: what Ray keeps for it."""

    def __init__(self, ray: Any, node: str, number: int, count: int, options: dict, load: Any):
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        alive = {each["NodeID"]: each["NodeManagerAddress"] for each in ray.nodes() if each["Alive"]}
        if node not in alive:
            raise WorkerGone(f"The node {node} has left the cluster")
        self.ray, self.lost, self.message = ray, False, LOST.format(alive[node])
        on_node = NodeAffinitySchedulingStrategy(node, soft=False)
        kind = ray.remote(concurrency_groups={"events": 1, "assignments": 1})(Actor)
        self.actor = kind.options(**options, scheduling_strategy=on_node).remote(number, count, load)
        self.events = self.actor.events.options(num_returns="streaming", concurrency_group="events").remote()

    def send(self, message: Any) -> None:
        if self.lost:
            raise WorkerDied(self.message)
        self.actor.tell.options(concurrency_group="assignments").remote(message)

    def receive(self, seconds: float) -> dict | None:
        try:
            ready, _ = self.ray.wait([self.events], timeout=seconds)
            return self.ray.get(next(self.events)) if ready else None
        except Exception as error:  # of many types: the actor, its node or the cluster is gone
            self.close()
            raise WorkerDied(self.message) from error

    def alive(self) -> bool:
        # An idle one has nothing to tell but its end.
        return not self.lost and not self.ray.wait([self.events], timeout=0)[0]

    def close(self) -> None:
        self.lost = True
        # Its draft ends when the process that started it has.
        self.ray.kill(self.actor)
