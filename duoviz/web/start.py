"""Starting the page's server."""

import gc
import inspect
import signal
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from duoviz.processes import on_ending

if TYPE_CHECKING:
    from duoviz.web.session import Hardware


@contextmanager
def quickly() -> Iterator[None]:
    """Import Gradio in half the time, without two things that no server needs.

    Imports leave no garbage, and looking for it takes a fifth of their time. Gradio writes stubs for editors at each
    import, from the source of each component whose class has a file; that takes two fifths of the rest.
    """
    file_of = inspect.getfile

    def file_of_no_class(thing: Any) -> str:
        if isinstance(thing, type):
            raise OSError("no stubs are wanted")
        return file_of(thing)

    gc.disable()
    inspect.getfile = file_of_no_class
    try:
        yield
    finally:
        inspect.getfile = file_of
        gc.freeze()
        gc.enable()


def started(hardware: "Hardware", pair: str) -> list[str]:
    """What the log says of a start: the pair and where it computes, the workers, the limits, and what was changed."""
    from duoviz.models.cores import available_cores, core_label, has_gpu

    cores, bounds = core_label(tuple(available_cores())), hardware.limits.bounds
    return [
        f"Pair: {pair}, on {'a GPU and ' if has_gpu() else ''}{cores}",
        f"Workers: {len(hardware.pool.slots)}. Queue: at most {bounds.length} runs, {bounds.session} of one visitor",
        f"Limits: {hardware.limits.note()}",
        *hardware.notes,
    ]


def serve(options: Namespace) -> None:
    """Start the workers, which load the default pair, build the app meanwhile, and serve until interrupted.

    options.places: how many workers, see `local.number_of_workers`. ray: the address of the cluster they run on, or
    `local`. host, port: where it is served; by default as Gradio's environment variables say. Raises UserError.
    """
    on_ending(signal.SIG_DFL)
    from duoviz.models.cores import lends_gpu
    from duoviz.models.registry import first_pair
    from duoviz.web.ending import end_at_once
    from duoviz.web.limits import limits_here, make_way
    from duoviz.web.session import Hardware
    from duoviz.workers.local import LocalWorker, local_slots
    from duoviz.workers.pool import Pool
    from duoviz.workers.request_queue import RequestQueue

    # From here on there is something that could be left behind.
    on_ending(end_at_once)
    notes = make_way(places=not (options.ray or options.places))
    limits, helper = limits_here(), LocalWorker
    if lends_gpu():
        from duoviz.workers.zero import zero_slots

        slots, helper = zero_slots(first_pair(), options.places, limits.run_seconds), None
    elif options.ray:
        from duoviz.workers.ray import cluster_slots

        # Each node fetches its own models.
        slots, helper = cluster_slots(options.ray, options.places), None
        # Ray has its own way with signals.
        on_ending(end_at_once)
    else:
        slots = local_slots(options.places)
    hardware = Hardware(limits, Pool(slots, RequestQueue(limits.bounds, len(slots)), helper=helper), notes)
    try:
        hardware.pool.start(first_pair())
        print(*started(hardware, first_pair()), sep="\n", flush=True)
        with quickly():
            # Gradio takes as long to import as the models to load, which goes on meanwhile.
            from duoviz.web.app import CSS, HEAD, THEME, build_app
            from duoviz.web.serving import launch

            app = build_app(hardware)
        # A Space is reached from outside its container.
        where = {"server_name": "0.0.0.0" if limits.on_space else options.host, "server_port": options.port}
        launched = launch(app, hardware, theme=THEME, css=CSS, head=HEAD, prevent_thread_lock=True, quiet=True, **where)
        print(f"The page: {launched[1]}", flush=True)
        with suppress(KeyboardInterrupt):
            on_ending(signal.default_int_handler)
            app.block_thread()
    finally:
        on_ending(end_at_once)
        hardware.pool.close()
