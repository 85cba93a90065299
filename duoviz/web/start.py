"""Starting the page's server."""

import signal

from duoviz.web.importing import quickly


def serve(places: str | None = None, ray: str | None = None) -> None:
    """Start the places, which load the default pair, build the app meanwhile, and serve until interrupted.

    places: how many, see `sharing.number_of_places`. ray: the address of a cluster whose places these are, or `local`.
    Raises SettingsError.
    """
    # What ends a service is to leave as little behind as Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from duoviz.places.line import Line
    from duoviz.places.local import LocalPlace
    from duoviz.places.pool import Pool
    from duoviz.places.sharing import seats_here
    from duoviz.web.limits import limits_here
    from duoviz.web.session import Hardware

    limits, helper = limits_here(), LocalPlace
    if ray:
        from duoviz.places.ray import seats_of

        # Each node fetches its own models.
        seats, helper = seats_of(ray, places), None
    else:
        seats = seats_here(places)
    hardware = Hardware(limits, Pool(seats, Line(limits.bounds, len(seats)), helper=helper))
    try:
        hardware.pool.start("embedded")
        with quickly():
            # Gradio takes as long to import as the models to load, which goes on meanwhile.
            from duoviz.web.app import build_app
            from duoviz.web.serving import launch
            from duoviz.web.theme import CSS, HEAD, THEME

            app = build_app(hardware)
        # A Space is reached from outside its container.
        server_name = "0.0.0.0" if limits.on_space else None
        launch(app, hardware, theme=THEME, css=CSS, head=HEAD, server_name=server_name)
    finally:
        hardware.close()
