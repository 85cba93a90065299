"""What the page says of the machine it runs on, how a run's batches go out, and what is imported first."""

import subprocess
import sys

import pytest

from duoviz.web import app


@pytest.mark.parametrize(
    "gpu, cores, told", [(False, 2, app.NO_GPU), (False, 1, app.ONE_CORE), (True, 2, None), (True, 1, None)]
)
def test_the_page_says_what_the_machine_cannot_do(hardware, monkeypatch, gpu, cores, told):
    monkeypatch.setattr(app, "has_gpu", lambda: gpu)
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


def test_the_places_start_before_gradio_is_imported():
    code = "import duoviz.web.limits, duoviz.web.session, duoviz.places.sharing"
    assert imported(code, "gradio", "torch", "numba", "transformers") == "[]"


def test_the_pages_process_imports_nothing_that_decodes():
    code = "import duoviz.web.start, duoviz.web.app, duoviz.web.serving, duoviz.web.theme, duoviz.__main__"
    assert imported(code, "gradio", "torch", "numba", "transformers", "safetensors") == "['gradio']"


def test_the_page_imports_nothing_of_training():
    assert imported("import duoviz.web.start, duoviz.web.app", "gradio", "duoviz.training") == "['gradio']"
