"""Results that come along: the run's own numbers, small, and the same each time; and the README's tables of them."""

import html
import json
import re
import shutil
import socket
import zipfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from duoviz import __version__
from duoviz.__main__ import main
from duoviz.decoding import METHODS
from duoviz.decoding.costs import CONTEXTS
from duoviz.lab import findings, shipping
from duoviz.lab.answers import rows_of, speed_up, speeds
from duoviz.lab.machine import IN_TURN, TOGETHER, cost_models
from duoviz.lab.plan import DUO, DUOTREE, SPS, VANILLA, label_of
from duoviz.lab.report import first_view, sections
from duoviz.lab.results import load, opened
from duoviz.lab.shipping import kept_view, ship, shipped, view_of
from duoviz.lab.tasks import ALL_TASKS
from duoviz.models.sizes import draft_size, target_size
from duoviz.recordings import FOLDER, GAME, LESSONS, STORY
from tests.app import ROOT
from tests.lab.made_results import row
from tests.release.pages import BEGIN, END, results_page, summary
from tests.release.sitting import INT8, LARGER, NAME, put

SHIPPED = sorted((FOLDER.parent / "results").glob("*.zip"))
README = f"# Title\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n"


@pytest.mark.thorough
def test_what_is_shipped_are_the_runs_own_numbers(finished, tmp_path):
    file = ship(finished, tmp_path / "out", "two-cores")
    there, here = shipped(file), load(finished)
    assert there.name == "two-cores (recorded)" and there.environment == here.environment
    parts = {part.name: part for part in sections(there)}
    for name, own in {part.name: part for part in sections(here)}.items():
        if name != "environment":
            # What failed is told without places on this machine.
            told = [table for table in own.tables if table.name != "failed"]
            assert [table for table in parts[name].tables if table.name != "failed"] == told
            assert (parts[name].figure and parts[name].figure.data) == (own.figure and own.figure.data)
    assert file.stat().st_size < sum(each.stat().st_size for each in finished.glob("answers/*"))
    # No place on this machine, and not its name.
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", json.dumps(here.environment))
    with zipfile.ZipFile(file) as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    for text in (*texts, json.dumps(kept_view(file))):
        for private in {str(Path.home()), str(Path.cwd())} - {"/"}:
            assert private not in text, text[max(0, text.find(private) - 80) : text.find(private) + 80]
    # What the page shows is made of the zip, and a second time it is the same.
    assert kept_view(file) == json.loads(json.dumps(view_of(file))) and set(kept_view(file)["parts"]) == set(parts)
    shutil.copytree(finished, tmp_path / "killed")
    for torn in ("forwards.jsonl", "answers/vanilla.jsonl"):
        with (tmp_path / "killed" / torn).open("a") as rows:
            rows.write('{"question_id": 99, "model_id": "van')
    again = ship(tmp_path / "killed", tmp_path / "again", "two-cores")
    for kept in ("two-cores.zip", "two-cores.json.gz"):
        assert (again.parent / kept).read_bytes() == (file.parent / kept).read_bytes()


def views_parts(file):
    """What stands in the part that says where results were measured."""
    return kept_view(file)["parts"]["environment"]["above"]


def test_a_text_that_is_not_vanillas_is_kept():
    kept = {}
    for verdict in ("equal", "tie", "defect", None):
        answer = row(SPS) | {"verdict": verdict}
        answer["choices"][0]["turns"] = ["text"]
        kept[verdict] = shipping.lean_row(answer)["choices"][0]["turns"]
    assert kept == {"equal": [""], "tie": ["text"], "defect": ["text"], None: ["text"]}


def rounded(view):
    """The view as it comes out of a file; of numbers the digits that do not depend on the processor."""
    return json.loads(json.dumps(view), parse_float=lambda number: f"{float(number):.9g}")


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_the_results_that_come_along_are_shown_as_they_are_and_do_not_contradict_themselves(file):
    results = shipped(file)
    # The opening says that on a GPU no larger target was measured.
    assert results.environment.get("cpu") or results.environment["models"]["target"].startswith("SmolLM2-135M")
    views = [rounded(view) for view in (kept_view(file)["first"], first_view(results))]
    said = views[0]["overview"]["pays"]["why"]
    measured = [speeds(results.rows, [lane])[lane].phi[ALL_TASKS] for lane in (SPS, DUO, DUOTREE)]
    assert bool(said) == all(phi.value - phi.spread <= 1 for phi in measured)
    pays = views[0]["overview"]["pays"]
    # One figure for each set of costs, wherever it stands.
    costs = cost_models(results.environment)
    times = {
        name: [float(of(1, CONTEXTS[0])) for of in (each.target_time, each.draft_time)] for name, each in costs.items()
    }
    in_turn, beside = (f"{target / draft:.1f}" for target, draft in (times[IN_TURN], times[TOGETHER]))
    assert f"{float(pays['start']['steps']):.1f}" == in_turn
    of_both = f"{in_turn} draft steps where both take turns, {beside} on DuoDecoding's processors."
    assert all(of_both in sentence for sentence in [*pays["beyond"].values(), *said])
    costs_told = re.findall(r"([\d.]+) ms a pass, draft ([\d.]+) ms a step: ([\d.]+)", views_parts(file))
    assert [steps for *_, steps in costs_told] == [beside, in_turn]
    assert all(
        float(target) / float(draft) == pytest.approx(float(steps), abs=0.1) for target, draft, steps in costs_told
    )
    # DuoDecoding's last place above SpS.
    for rows, told in pays["beyond"].items():
        sps, duo = (pays["panels"][place][rows][pays["start"]["alpha"]] for place in (0, 1))
        last = max((at for at in range(len(sps)) if float(duo[at]) > float(sps[at])), default=None)
        none = "SpS to be at least as fast as DuoDecoding everywhere."
        assert (none if last is None else f"up to {float(pays['ratios'][last]):.1f} draft steps") in told
    duo, sps = (phi.value for phi in (measured[1], measured[0]))
    between = speed_up(rows_of(results.rows, DUO), rows_of(results.rows, SPS))
    verdict = "neither" if max(duo, sps) < 1.05 else "no difference" if between.verdict == "tie" else None
    assert pays["faster"] == (verdict or ("DuoDecoding" if duo > sps else "SpS"))
    ways = speed_up(*(rows_of(results.rows, f"{DUOTREE}-{way}") for way in ("in-turn", "beside")))
    assert len(pays["ways"]) == bool(ways) and (
        not ways or f"{100 * abs(ways.value - 1):.0f}\xa0%" in pays["ways"][0] and f"n = {ways.n}." in pays["ways"][0]
    )
    for view in views:
        # Of DuoTree's play the tests play little.
        assert view["overview"]["pays"]["panels"].pop()["method"] == "DuoTree"
    assert views[0] == views[1], f"ship {file.name} anew"


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_what_was_asked_and_of_which_models_is_told_as_the_answers_have_it(file):
    results, told = shipped(file), html.unescape(kept_view(file)["first"]["about"])
    rows = rows_of(results.rows, VANILLA)
    asked = Counter(row["task"] for row in rows)
    (each,) = {*asked.values()}
    assert f"two standard errors over {len(rows)} questions, {each} a task, each asked once in one run" in told
    assert results.plan["repeats"] == 1 and {row["repeat"] for row in results.rows} == {0}
    assert {len(row["choices"][0]["turns"]) for row in rows if row["task"] == "mt_bench"} == {2}
    assert "MT-Bench-like questions have 2 turns, and all were asked." in told and told.count(" turns, and all") == 1
    assert f"seven kinds, {each} a task, each asked once" in kept_view(file)["first"]["overview"]["speeds"]["asked"]
    # Of each method so many answers; those that are compared are all but vanilla's.
    (product,) = re.findall(r"answers: ([\d× +]+) \(", told)
    counts = Counter(Counter(row["model_id"] for row in results.rows).values())
    assert {tuple(map(int, each.split(" × "))) for each in product.split(" + ")} == {
        (n, of) for of, n in counts.items()
    }
    # With which models stands before what is folded.
    first = told.partition("<details>")[0]
    assert all(f"in {precision}" in first for precision in results.environment["precision"].values())
    is_ours = results.environment["versions"]["duoviz"] == __version__
    assert (draft_size() in first) == is_ours and (target_size() in first) == ("at SmolLM2" not in first)
    assert told.count("million parameters in") == first.count("million parameters in")


def test_the_docs_quote_the_results_that_come_along():
    found = {file.stem: speeds(shipped(file).rows, METHODS) for file in SHIPPED}
    models, measuring = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("models", "measuring"))
    for name in {*found} - {NAME}:
        phis = [found[name][lane].phi[ALL_TASKS] for lane in (SPS, DUO, DUOTREE)]
        line = next(line for line in models.splitlines() if f"(`{name}` in the Lab)" in line)
        assert f"{len(found[name][SPS].rows)} prompts" in line
        assert line.endswith(f"| {' | '.join(f'{phi.value:.2f} ± {phi.spread:.2f}' for phi in phis)} |")
    on_gpu = {lane: f"{line.phi[ALL_TASKS].value:.2f}" for lane, line in found["with-an-H100"].items()}
    parts = [f"{label_of(lane)} {on_gpu[lane]}" for lane in ("prompt_lookup", "lookahead", SPS, DUOTREE)]
    assert f"over vanilla are {', '.join(parts)}, DuoDecoding {on_gpu[DUO]} and REST {on_gpu['rest']}." in words(
        measuring
    )
    whole, fewer = (found[name][VANILLA].tps[ALL_TASKS].value for name in (NAME, INT8))
    assert f"vanilla is {fewer / whole:.1f} times as fast" in words(measuring)
    assert whole * max(found[NAME][lane].phi[ALL_TASKS].value for lane in (SPS, DUO, DUOTREE)) < fewer
    for name, told in (("two-cores", "in `two-cores`"), ("with-AMD-cores", "in `with-AMD-cores`")):
        costs = cost_models(shipped(FOLDER.parent / "results" / f"{name}.zip").environment)[IN_TURN]
        longer = f"{costs.target_time(32, CONTEXTS[0]) / costs.target_time(1, CONTEXTS[0]):.1f} times"
        assert re.search(rf"{longer}[\w ]* {told}", words(measuring))


def words(text):
    return " ".join(text.split())


def test_the_readme_and_the_page_of_results_are_those_of_the_first_results():
    results = shipped(next(file for file in SHIPPED if file.stem == "two-cores"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert readme.strip() == summary(results).strip() and findings.about_table_1(results)[0] in readme
    assert findings.about_table_1(results)[1] in results_page(results)


@pytest.mark.thorough
def test_a_release_writes_the_readmes_tables(finished, tmp_path):
    root, sitting = tmp_path / "clone", tmp_path / "sitting"
    readme, page = root / "README.md", root / "docs" / "results.md"
    for folder in (page.parent, root / "assets" / "traces", root / "assets" / "results"):
        folder.mkdir(parents=True)
    readme.write_text(README)
    for name in (NAME, LARGER, INT8):
        shutil.copytree(finished, sitting / name)
    for folder in (STORY, LESSONS, GAME):
        shutil.copytree(folder, sitting / folder.name)
    put(sitting, root)
    assert all(kept_view(root / "assets" / "results" / f"{name}.zip") for name in (NAME, LARGER))
    for folder in (STORY, LESSONS, GAME):
        made = [file.name for file in (root / "assets" / "traces" / folder.name).iterdir()]
        assert sorted(made) == sorted(file.name for file in folder.iterdir())
    text = readme.read_text()
    before, _, rest = text.partition(BEGIN)
    summary, _, after = rest.partition(END)
    assert (before, after) == ("# Title\n\nBefore.\n\n", "\n\nAfter.\n") and "old" not in summary
    over_all, _, by_task = page.read_text().partition("by task:")
    # The README's table has the methods alone, and the same figures.
    for label, (speed, tau, over) in list(lines_of(summary).items())[2:]:
        assert lines_of(over_all)[label][:1] + lines_of(over_all)[label][2:4] == [speed, tau, over]
    assert "are vanilla's text, token for token" in over_all and "| DuoDecoding |" in by_task
    assert "This is a quick run" in over_all
    shown = (root / "assets" / "speed-ups.svg").read_text()
    assert ElementTree.fromstring(shown).tag.endswith("svg") and all(name in shown for name in ("SpS", "DuoTree"))
    assert "](assets/speed-ups.svg)" in summary and "](../assets/speed-ups.svg)" in by_task
    # Once more it is the same, and the README's other words stay.
    put(sitting, root)
    assert readme.read_text() == text


def lines_of(text):
    """The cells of Markdown tables, by the first of each line."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    return {first: rest for first, *rest in filter(None, cells)}


@pytest.mark.parametrize(
    "results, name, sentence",
    [
        ("nowhere", "here", "nowhere is not a folder of results"),
        ("README.md", "here", "README.md is not a folder of results"),
        ("", "a/b", "--name: use letters"),
    ],
)
def test_mistakes_are_told_before_anything_is_written(finished, tmp_path, capsys, results, name, sentence):
    assert main(["ship", results or str(finished), "--name", name, "--out", str(tmp_path / "out")]) == 1
    assert sentence in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_run_that_goes_on_is_not_shipped(finished, tmp_path):
    copy = shutil.copytree(finished, tmp_path / "copy")
    with opened(copy), pytest.raises(shipping.UserError, match="A run is writing to"):
        ship(copy, tmp_path, "here")
