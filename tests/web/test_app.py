"""What the page says of the machine it runs on, how a run's batches go out, and what is imported first."""

import re
import subprocess
import sys

import pytest

from duoviz.web import app, results_store
from duoviz.web.pages import live
from duoviz.web.results_store import averages, in_words, said_below


@pytest.mark.parametrize("gpu, cores, told", [(False, 2, app.NO_GPU), (False, 1, app.ONE_CORE), (True, 1, None)])
def test_the_page_says_what_the_machine_cannot_do(hardware, monkeypatch, gpu, cores, told):
    monkeypatch.setattr(app, "has_gpu", lambda: gpu)
    monkeypatch.setattr(app, "available_cores", lambda: tuple(range(cores)))
    texts = [block.value for block in app.build_app(hardware).blocks.values() if block.elem_id == "no-gpu"]
    assert texts == ([told] if told else [])


PLACES = "duoviz.web.limits, duoviz.web.session, duoviz.workers.local"
PAGE = "duoviz.web.start, duoviz.web.app, duoviz.web.serving, duoviz.web.app, duoviz.__main__"


@pytest.mark.parametrize("modules, needed", [(PLACES, []), (PAGE, ["gradio"])], ids=["places", "page"])
def test_the_places_start_before_gradio_is_imported_and_the_page_imports_nothing_that_decodes(modules, needed):
    heavy = ("gradio", "torch", "numba", "transformers", "safetensors", "duoviz.training")
    code = f"import {modules}, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(needed)


def test_about_says_on_which_hardware_it_was_measured_to_pay(monkeypatch, tmp_path):
    told = live.worth_it()
    assert {*live.MEASURED} == {file.stem for file in results_store.RECORDED.glob("*.zip")}
    answers = {"two-cores": "On two Intel cores", "with-an-H100": "On an H100, draft on its CPU, with a small target"}
    for name, where in answers.items():
        duo, in_turn = (averages(name)[method] for method in ("DuoDecoding", "SpS"))
        phis = [f"{each['phi']:.2f} ± {each['noise']:.2f}" for each in (duo, in_turn)]
        is_worth = max(duo["phi"], in_turn["phi"]) >= 1.05
        verdict = "SpS is faster" if is_worth else "neither is worth it"
        assert f"{where} (SmolLM2-135M): {verdict}, φ {phis[0]} with DuoDecoding and {phis[1]} with SpS." in told
        low, high = duo["tasks"]
        assert low < duo["phi"] < high
    papers = "φ 2.61 with DuoDecoding and 1.80 with SpS, not measured by us."
    assert f"on a GPU with a 7B target (Llama-2-7b): DuoDecoding is faster, {papers}" in told and "float32" in told
    few = averages() | {"SpS": averages()["SpS"] | {"noise": None}}
    monkeypatch.setattr(live, "averages", lambda name="": few)
    assert f"φ {in_words(few['DuoDecoding'])} with DuoDecoding and {few['SpS']['phi']:.2f} with SpS." in live.worth_it()
    monkeypatch.undo()
    monkeypatch.setattr(results_store, "RECORDED", tmp_path)
    assert live.worth_it() == ""


def test_what_stands_first_below_a_table_is_said_in_words():
    said = said_below("two-cores", "table-4")
    assert re.fullmatch(r"The predicted k was exactly right in \d+\s% of [\d,]+ iterations, .* right in \d+\s%\.", said)
    assert said_below("two-cores", "no-table") == said_below("no-results", "table-4") == ""
