"""A page whose queue or loop dies for good: `python -m tests.web.dying_child queue|loop`."""

import asyncio
import sys
import threading
import time

import gradio as gr

from duoviz.web import gradio_internals, serving, watchdog
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware

watchdog.STEP = 0.05


class Dog(watchdog.Watchdog):
    """Known to all, so that its patience can be shortened when the page is served."""

    all = []

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.all.append(self)


serving.Watchdog = Dog


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
        Dog.all[0].patience = 1.0
        loops[0].call_soon_threadsafe(time.sleep, 60)
    else:
        demo._queue.stopped = True
    threading.Event().wait(60)


if __name__ == "__main__":
    main(sys.argv[1])
