"""The whole page on tiny models, so that nothing is loaded and runs are short."""

from contextlib import contextmanager
from unittest import mock

from duoviz.web import session
from duoviz.web.app import build_app
from duoviz.web.limits import Limits
from duoviz.web.pages import live
from duoviz.web.serving import launch
from tests.conftest import tiny_pair


@contextmanager
def tiny_site(load=lambda name, progress: tiny_pair(noise=0.3, context=8192), *, recording=None):
    """The app's address and the app itself. recording: the folder with the run that is shown first."""
    hardware = session.Hardware(Limits())
    with (
        mock.patch.object(session, "check_room", lambda name, spare: None),
        mock.patch.object(session, "fetch_pair", lambda name, progress: ()),
        mock.patch.object(session, "load_pair", lambda name, progress, sources: load(name, progress)),
        mock.patch.object(live, "FOLDER", recording or live.FOLDER / "no"),
    ):
        demo = build_app(hardware)
        _, url, _ = launch(demo, hardware, prevent_thread_lock=True, quiet=True)
        try:
            yield url, demo
        finally:
            demo.close()
            hardware.close()
