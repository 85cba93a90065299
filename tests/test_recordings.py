"""The recorded runs: one of each method, the middle one of several after a warm-up."""

import json
from collections import Counter
from dataclasses import replace
from statistics import median

import pytest

from duoviz import commands, recordings, runner
from duoviz.__main__ import main
from duoviz.command_line import tell
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.lab.machine import alike, passes
from duoviz.lab.shipping import kept_view, shipped
from duoviz.trace.metrics import forward_seconds
from duoviz.trace.reading import read_trace
from tests.decoding.stores import build, random_sequences
from tests.release.sitting import record
from tests.tiny import VOCABULARY, change_pair, tiny_engine
from tests.weights import tiny_decoder


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """The command on a tiny pair, with a datastore that fits it; the methods of all runs."""
    store = build(random_sequences(0, tokens=VOCABULARY), tmp_path / "store")
    ran = []

    def stream(engine, method, prompt, settings, **options):
        ran.append(method)
        settings = Settings(max_new_tokens=settings.max_new_tokens, rest_datastore=str(store))
        return real(engine, method, prompt, settings, **options)

    real = runner.stream
    monkeypatch.setattr(runner, "stream", stream)
    engine = tiny_engine(noise=0.3)
    change_pair(engine, draft=replace(engine.pair.draft, load=lambda: tiny_decoder(1)))
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: engine)
    return ran


@pytest.mark.thorough
def test_one_run_of_each_method_is_kept(tiny, tmp_path, capsys):
    out = tmp_path / "new" / "traces"
    assert main(["record", "--out", str(out), "--prompt", "hello", "--max-new-tokens", "24"]) == 0
    assert Counter(tiny) == dict.fromkeys(METHODS, 1 + recordings.ROUNDS)
    traces = {method: read_trace(out / f"{method}.duoviz.json") for method in METHODS}
    assert {trace["end"]["text"] for trace in traces.values()} == {traces["vanilla"]["end"]["text"]}
    assert all(trace["header"]["method"] == method for method, trace in traces.items())
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*METHODS]
    expected = json.loads((out / recordings.PLACES).read_text())
    assert expected["text"] == traces["vanilla"]["end"]["text"]
    # Greedy: at each place the target wrote the token that it puts first.
    written = [token["text"] for step in traces["vanilla"]["iterations"] for token in step["committed"]]
    assert [place[0]["text"] for place in expected["places"]] == written
    for place in expected["places"]:
        assert len({token["text"] for token in place}) == len(place) >= recordings.LIKELIEST
        assert all(sum(token[name] for token in place) <= 1.001 for name in "pq")


def test_mistakes_are_named_before_anything_runs(tiny, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for options, sentence in (
        (["--out", str(tmp_path / "file")], "cannot be written"),
        (["--out", str(tmp_path), "--max-new-tokens", "0"], "Max new tokens (max_new_tokens): enter"),
        (["--out", str(tmp_path), "--prompt", ""], "The prompt is empty"),
    ):
        assert main(["record", *options]) == 1
        assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert (tmp_path / "file").read_text() == "" and not list(tmp_path.glob("*.json"))


def test_a_recording_says_how_fast_the_machine_was(tiny, monkeypatch):
    engine, rows = commands.load_engine("tiny", tell), []
    compare = runner.compare

    def kept(*asked, **options):
        rows.extend(compare(*asked, **options))
        return rows

    monkeypatch.setattr(runner, "compare", kept)
    traces = recordings.record(engine, Settings(max_new_tokens=8), "hello")
    passes = sorted(forward_seconds(row["trace"], rows=1) for row in rows if row["method"] == "vanilla")
    assert {trace["header"]["one_token"] for trace in traces.values()} == {round(passes[recordings.ROUNDS // 2], 6)}
    # Costs are those of the cores, and not of what a method's runs have learnt.
    assert traces["speculative"]["header"]["calibration"] == traces["duotree"]["header"]["calibration"]


def test_a_release_records_what_a_sitting_does_not_hold(tiny, tmp_path):
    settings = Settings(max_new_tokens=8)
    engine, sitting = commands.load_engine("tiny", tell), tmp_path / "sitting"
    record(engine, sitting, settings)
    assert {folder.name for folder in sitting.iterdir()} == {*recordings.PROMPTS}
    ran = len(tiny)
    # Cut off in the middle of one prompt.
    (sitting / "lessons" / recordings.PLACES).unlink()
    record(engine, sitting, settings)
    assert len(tiny) == ran + ran // len(recordings.PROMPTS)


@pytest.mark.parametrize("name", recordings.PROMPTS)
def test_the_recorded_runs_are_complete(name):
    folder = recordings.FOLDER / name
    files = {method: folder / f"{method}{recordings.ENDING}" for method in METHODS}
    traces = {method: read_trace(file) for method, file in files.items()}
    assert all(file.stat().st_size < 1_000_000 for file in files.values())
    assert {trace["header"]["prompt"] for trace in traces.values()} == {recordings.PROMPTS[name]}
    expected = json.loads((folder / recordings.PLACES).read_text(encoding="utf-8"))
    assert {trace["end"]["text"] for trace in traces.values()} == {expected["text"]}
    # A whole answer.
    assert {trace["end"]["stopped"] for trace in traces.values()} == {"eos"}


def test_what_comes_along_is_of_one_machine():
    file = recordings.FOLDER.parent / "results" / "two-cores.zip"
    results, folders = shipped(file), [recordings.STORY, recordings.LESSONS, recordings.GAME]
    headers = [read_trace(folder / f"speculative{recordings.ENDING}")["header"] for folder in folders]
    assert {header["target"]["device"] for header in headers} == {results.environment["devices"]["target"]}
    assert {str(header["versions"]) for header in headers} == {str(results.environment["versions"])}
    assert len({str(header["calibration"]) for header in headers}) == 1
    # Where it was not as fast all the time, the results say so.
    recorded = recordings.recorded_speed(results.environment["models"]["target"])
    said = f"In the recorded runs of the other tabs it took {1e3 * recorded:.1f} ms"
    same = alike([median(passes(results.rows)), recorded])
    assert (said in kept_view(file)["first"]["about"]) == (not same)


def test_the_runs_with_the_target_on_a_gpu_can_be_read_and_wrote_one_text():
    files = sorted((recordings.FOLDER / "with-an-H100").glob(f"*{recordings.ENDING}"))
    traces = [read_trace(file) for file in files]
    assert len(traces) == 4 and len({trace["end"]["text"] for trace in traces}) == 1
    assert all("H100" in trace["header"]["target"]["device"] for trace in traces)
