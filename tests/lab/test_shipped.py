"""What is said of the shipped results and recordings does not contradict itself."""

import re

import pytest

from duoviz.lab import findings, paying
from duoviz.lab.plan import DUO, SPS
from duoviz.lab.report import first_view
from duoviz.lab.shipping import shipped
from duoviz.lab.tasks import ALL_TASKS
from duoviz.lab.values import speeds
from duoviz.recordings import FOLDER
from tests.app import ROOT
from tests.release.pages import BEGIN, END, results_page, summary

FILES = sorted((FOLDER.parent / "results").glob("*.zip"))


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem)
def results(request):
    return shipped(request.param)


def test_why_no_draft_model_pays_is_said_where_none_does(results):
    said = first_view(results)["overview"]["pays"]["why"]
    measured = [speeds(results.rows, [lane])[lane].phi[ALL_TASKS] for lane in (SPS, DUO, "duotree")]
    assert bool(said) == all(phi.value - phi.spread <= 1 for phi in measured)
    if said:
        ratio = paying.sides(results)[0].ratio
        target, draft = map(float, re.findall(r"([\d.]+) ms", said[0]))
        assert target / draft < ratio


def test_the_readme_and_the_page_of_results_are_those_of_the_first_results():
    results = shipped(next(file for file in FILES if file.stem == "two-cores"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert readme.strip() == summary(results).strip() and findings.about_table_1(results)[0] in readme
    assert findings.about_table_1(results)[1] in results_page(results)
