"""Starting the page's server."""

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collecting() -> Iterator[None]:
    """Collect no garbage meanwhile: imports leave none, and to look for it takes a fifth of their time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def serve() -> None:
    """Begin to load the default pair, build the app, and serve until interrupted."""
    # What ends a service is to leave as little behind as Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with no_collecting():
        from duoviz.web.limits import limits_here
        from duoviz.web.session import Hardware

        limits = limits_here()
        hardware = Hardware(limits)
        hardware.warm_up()
        # Gradio takes as long to import as the models to load, which goes on meanwhile.
        from duoviz.web.app import build_app
        from duoviz.web.serving import launch
        from duoviz.web.theme import CSS, HEAD, THEME

        app = build_app(hardware)
    # A Space is reached from outside its container.
    server_name = "0.0.0.0" if limits.on_space else None
    try:
        launch(app, hardware, theme=THEME, css=CSS, head=HEAD, server_name=server_name)
    finally:
        hardware.close()
