"""Starting the page's server."""

from duoviz.web.limits import limits_here
from duoviz.web.session import Hardware


def serve() -> None:
    """Begin to load the default pair, build the app, and serve until interrupted."""
    limits = limits_here()
    hardware = Hardware(limits)
    hardware.warm_up()
    # Gradio takes as long to import as the models to load, which goes on meanwhile.
    from duoviz.web.app import THREADS, build_app
    from duoviz.web.theme import CSS, THEME

    # A Space is reached from outside its container.
    server_name = "0.0.0.0" if limits.on_space else None
    try:
        build_app(hardware).launch(theme=THEME, css=CSS, server_name=server_name, max_threads=THREADS, ssr_mode=False)
    finally:
        hardware.close()
