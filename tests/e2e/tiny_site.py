"""The whole page on tiny models, so that nothing is loaded and runs are short."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import gradio as gr

from duoviz.web import front, published, session
from duoviz.web.app import build_app
from duoviz.web.limits import Limits
from duoviz.web.pages import compare, live
from duoviz.web.serving import launch
from duoviz.web.theme import CSS, HEAD, THEME
from tests.tiny import held_engine

# A run of more tokens goes on until it is stopped.
LONGEST = 130


@dataclass
class Site:
    url: str
    demo: gr.Blocks
    hardware: session.Hardware


@contextmanager
def tiny_site(load=None, *, recording=None) -> Iterator[Site]:
    """The app as it is served. load: takes the place of what loads a pair; without it, one is loaded already.
    recording: the folder with the runs that are shown first."""
    hardware = session.Hardware(Limits())
    if load is None:
        hardware.loaded, hardware.engine = "embedded", held_engine(lambda: hardware, after=LONGEST, noise=0.3)
    folder = recording or live.FOLDER / "no"
    with mock.patch.object(live, "FOLDER", folder), mock.patch.object(compare, "FOLDER", folder):
        demo = build_app(hardware)
    with (
        mock.patch.object(session, "check_room", lambda name, spare: None),
        mock.patch.object(session, "fetch_pair", lambda name, progress: ()),
        mock.patch.object(session, "load_engine", lambda name, progress, sources, *, draft: load(name, progress)),
    ):
        _, url, _ = launch(demo, hardware, theme=THEME, css=CSS, head=HEAD, prevent_thread_lock=True, quiet=True)
        try:
            yield Site(url, demo, hardware)
        finally:
            demo.close()
    hardware.close()


@contextmanager
def served(demo: gr.Blocks) -> Iterator[str]:
    """The address of a page while it is served, with its scripts and recordings."""
    routes = [*front.routes(), *published.routes()]
    options = {"theme": THEME, "css": CSS, "head": HEAD, "app_kwargs": {"routes": routes}}
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, **options)
    try:
        yield url
    finally:
        demo.close()
