"""A page whose queue or loop dies for good: `python -m tests.web.dying_child queue|loop`."""

import asyncio
import sys
import threading
import time

import gradio as gr

from duoviz.web import gradio_internals, serving, watchdog
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware

# The watchdog's patience is not what is tested.
watchdog.STEP = 0.05
watchdog.PATIENCE = 1.0


def main(what: str) -> None:
    loops = []
    with gr.Blocks() as demo:
        gr.Markdown("hello")
    serving.bound_queue(demo)
    look = gradio_internals.is_dead
    gradio_internals.is_dead = lambda demo: loops.append(asyncio.get_running_loop()) or look(demo)
    # As if starting it again were of no use.
    gradio_internals.revive = lambda demo: None
    serving.launch(demo, Hardware(Limits()), prevent_thread_lock=True, quiet=True)
    while not loops:
        time.sleep(0.01)
    print("serving", flush=True)
    if what == "loop":
        loops[0].call_soon_threadsafe(time.sleep, 60)
    else:
        demo._queue.stopped = True
    threading.Event().wait(60)


if __name__ == "__main__":
    main(sys.argv[1])
