"""Starting the page's server."""

import signal
from contextlib import suppress

from duoviz.signals import on_ending
from duoviz.web.importing import quickly


def serve(places: str | None = None, ray: str | None = None, host: str | None = None, port: int | None = None) -> None:
    """Start the places, which load the default pair, build the app meanwhile, and serve until interrupted.

    places: how many, see `sharing.number_of_places`. ray: the address of a cluster whose places these are, or `local`.
    host, port: where it is served, without which Gradio's environment variables say so. Raises UserError.
    """
    on_ending(signal.SIG_DFL)
    from duoviz.models.registry import first_pair
    from duoviz.places.line import Line
    from duoviz.places.local import LocalPlace
    from duoviz.places.pool import Pool
    from duoviz.places.sharing import seats_here
    from duoviz.web.ending import end_at_once
    from duoviz.web.limits import limits_here
    from duoviz.web.session import Hardware

    # From here on there is something that could be left behind.
    on_ending(end_at_once)
    limits, helper = limits_here(), LocalPlace
    if ray:
        from duoviz.places.ray import seats_of

        # Each node fetches its own models.
        seats, helper = seats_of(ray, places), None
        # Ray has its own way with signals.
        on_ending(end_at_once)
    else:
        seats = seats_here(places)
    hardware = Hardware(limits, Pool(seats, Line(limits.bounds, len(seats)), helper=helper))
    try:
        limits.check_pair(first_pair())
        hardware.pool.start(first_pair())
        with quickly():
            # Gradio takes as long to import as the models to load, which goes on meanwhile.
            from duoviz.web.app import build_app
            from duoviz.web.serving import launch
            from duoviz.web.theme import CSS, HEAD, THEME

            app = build_app(hardware)
        # A Space is reached from outside its container.
        where = {"server_name": "0.0.0.0" if limits.on_space else host, "server_port": port}
        launch(app, hardware, theme=THEME, css=CSS, head=HEAD, prevent_thread_lock=True, **where)
        with suppress(KeyboardInterrupt):
            on_ending(signal.default_int_handler)
            app.block_thread()
    finally:
        on_ending(end_at_once)
        hardware.close()
