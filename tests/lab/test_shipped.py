"""What is said of the shipped results and recordings does not contradict itself."""

import re

import pytest

from duoviz.decoding import METHODS
from duoviz.lab import findings, paying
from duoviz.lab.plan import DUO, SPS, TARGET_ONLY, VANILLA, label_of, table_1_lanes
from duoviz.lab.report import first_view, sections
from duoviz.lab.shipping import shipped
from duoviz.lab.tables import table_1
from duoviz.lab.tasks import ALL_TASKS
from duoviz.lab.values import speeds
from duoviz.recordings import FOLDER
from tests.app import ROOT
from tests.release.pages import BEGIN, END, results_page, speed_lines, summary

FILES = sorted((FOLDER.parent / "results").glob("*.zip"))


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem)
def results(request):
    return shipped(request.param)


def claims(sentences):
    """(how many times as fast, as what) by method, of those that are said to be faster or slower."""
    labels = "|".join(re.escape(findings.lower(label_of(lane))) for lane in (TARGET_ONLY, VANILLA, SPS))
    for sentence in sentences:
        subject = sentence.partition(" is ")[0]
        for much, way, other in re.findall(rf"(\d+) % (faster|slower) than ({labels})", sentence):
            yield subject, other, 1 + (int(much) if way == "faster" else -int(much)) / 100


def test_the_sentences_speed_ups_are_those_of_table_1(results):
    found = {label_of(lane): each for lane, each in speeds(results.rows, table_1_lanes()).items()}
    said = list(claims(findings.about_table_1(results)))
    assert {"vanilla", "SpS"} <= {other for _, other, _ in said}
    for subject, other, phi in said:
        tables = {
            "vanilla": found[subject].phi[ALL_TASKS].value,
            findings.lower(label_of(TARGET_ONLY)): found[subject].phi_same.value,
            "SpS": found[subject].tps[ALL_TASKS].value / found[label_of(SPS)].tps[ALL_TASKS].value,
        }
        assert phi == pytest.approx(tables[other], abs=0.0051), (subject, other)


def test_the_fastest_or_those_that_tie_stand_with_the_figures_of_table_1(results):
    first = findings.about_table_1(results)[0]
    named = re.findall(r"(?:^|: |, | and )([^():,]+) \(φ ([\d.]+) ± ([\d.]+)\)", first)
    assert (len(named) == 1) == first.endswith(
        f"is the fastest, n = {speeds(results.rows, [VANILLA])[VANILLA].tps[ALL_TASKS].n}."
    )
    place, lines = table_1(results).columns.index("φ over vanilla"), dict(table_1(results).lines)
    for name, phi, noise in named:
        assert (phi, noise) == (f"{lines[name][place].value:.2f}", f"{lines[name][place].spread:.2f}")
    methods = [lines[method.title][place].value for method in METHODS.values()]
    assert lines[named[0][0]][place].value == max(methods)


def test_tau_is_one_number(results):
    """Of every table and figure of the Lab that shows τ, and on the page of results."""
    pages = {line[0].partition(" (")[0]: float(line[3]) for line in speed_lines(results, METHODS)}
    for part in sections(results):
        for table in part.tables:
            columns = [place for place, name in enumerate(table.columns) if name.startswith("τ")]
            for label, cells in table.lines if not table.papers else ():
                for place in columns:
                    assert cells[place] is None or cells[place].value == pytest.approx(pages[label], abs=0.0051)


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
