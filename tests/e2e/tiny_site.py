"""The whole page on tiny models, so that nothing is loaded and runs are short."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import gradio as gr

from duoviz.web import front
from duoviz.web.app import CSS, HEAD, THEME, build_app
from duoviz.web.pages import compare, live
from duoviz.web.serving import launch
from duoviz.web.session import Hardware
from tests.thread_workers import hardware_with, nothing_to_fetch, worker_of
from tests.tiny import held_engine
from tests.until import wait_until

# A run of more tokens goes on until it is stopped.
LONGEST = 130
SERVED = {"theme": THEME, "css": CSS, "head": HEAD, "prevent_thread_lock": True, "quiet": True}


@dataclass
class Site:
    url: str
    demo: gr.Blocks
    hardware: Hardware


@contextmanager
def tiny_site(load=None, *, recording=None, **options) -> Iterator[Site]:
    """The app as it is served. load: takes the place of what loads a pair; without it, one is loaded already.
    recording: the folder with the runs that are shown first. options: of `launch`."""

    def held(name, progress):
        return held_engine(lambda: worker_of(hardware).cancelled(), after=LONGEST, noise=0.3)

    hardware = hardware_with(load or held)
    folder = recording or live.STORY / "no"
    with mock.patch.object(live, "STORY", folder), mock.patch.object(compare, "STORY", folder):
        demo = build_app(hardware)
    with nothing_to_fetch():
        hardware.pool.start(None if load else "embedded")
        wait_until(lambda: load or hardware.pool.slots[0].loaded)
        _, url, _ = launch(demo, hardware, **SERVED, **options)
        try:
            yield Site(url, demo, hardware)
        finally:
            demo.close()
            hardware.pool.close()


@contextmanager
def served(demo: gr.Blocks) -> Iterator[str]:
    """The address of a page while it is served, with its scripts and recordings."""
    _, url, _ = demo.launch(**SERVED, app_kwargs={"routes": front.routes()})
    try:
        yield url
    finally:
        demo.close()
