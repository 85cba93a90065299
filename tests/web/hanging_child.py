"""A page whose loop hangs: `python -m tests.web.hanging_child`."""

import asyncio
import threading
import time

import gradio as gr

from duoviz.web import serving, watchdog
from duoviz.web.limits import Limits
from duoviz.web.session import Hardware

watchdog.STEP = 0.05
dogs = []


class Dog(watchdog.Watchdog):
    """Known, so that its patience can be shortened when the page is served."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        super().__init__(loop)
        dogs.append(self)


serving.Watchdog = Dog

if __name__ == "__main__":
    with gr.Blocks() as demo:
        gr.Markdown("hello")
    serving.bound_queue(demo)
    serving.launch(demo, Hardware(Limits()), prevent_thread_lock=True, quiet=True)
    print("serving", flush=True)
    dogs[0].patience = 1.0
    dogs[0].loop.call_soon_threadsafe(time.sleep, 60)
    threading.Event().wait(60)
