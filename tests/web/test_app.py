"""What the page says of the machine it runs on, how a run's batches go out, and what is imported first."""

import subprocess
import sys

import pytest

from duoviz.web import app


@pytest.mark.parametrize(
    "device, cores, told", [("cpu", 2, app.NO_GPU), ("cpu", 1, app.ONE_CORE), ("cuda", 2, None), ("cuda", 1, None)]
)
def test_the_page_says_what_the_machine_cannot_do(hardware, monkeypatch, device, cores, told):
    monkeypatch.setattr(app, "target_device", lambda: device)
    monkeypatch.setattr(app, "available_cores", lambda: tuple(range(cores)))
    texts = [block.value for block in app.build_app(hardware).blocks.values() if block.elem_id == "no-gpu"]
    assert texts == ([told] if told else [])


def test_a_batch_goes_out_as_it_is(hardware):
    streams = [
        each for each in app.build_app(hardware).fns.values() if each.name in ("watch", "race", "race_like_for_like")
    ]
    assert len(streams) == 3 and not any(each.postprocess for each in streams)


def imported(code, *packages):
    """Which of these packages are imported once a new process has run this code."""
    code = f"{code}; import sys; print([name for name in {packages} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_models_begin_to_load_before_gradio_is_imported():
    assert imported("import duoviz.web.limits, duoviz.web.session", "gradio", "transformers") == "[]"


def test_the_page_imports_nothing_of_training():
    assert imported("import duoviz.web.start, duoviz.web.app", "gradio", "duoviz.training") == "['gradio']"
