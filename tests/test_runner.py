"""One run as events, and methods in alternation."""

import pytest

from duoviz import runner
from duoviz.decoding.draft_worker import DraftDied
from duoviz.decoding.settings import Settings, SettingsError
from duoviz.models.pairs import PromptError
from tests.conftest import tiny_pair

SETTINGS = Settings(max_new_tokens=20)


def test_events_in_order(pair):
    kinds = [event["type"] for event in runner.stream(pair, "vanilla", "hi", SETTINGS)]
    assert kinds == ["header", *["iteration"] * 20, "end"]


def test_unknown_method_and_bad_prompts():
    with pytest.raises(SettingsError, match="no method named 'magic'"):
        next(runner.stream(tiny_pair(), "magic", "hi", SETTINGS))
    with pytest.raises(PromptError, match="empty"):
        next(runner.stream(tiny_pair(), "vanilla", " \n", SETTINGS))
    with pytest.raises(PromptError, match="300 tokens.*holds 256"):
        next(runner.stream(tiny_pair(), "vanilla", "x" * 300, SETTINGS))


def test_a_draft_that_dies_ends_the_run_with_its_sentence():
    pair = tiny_pair()
    draft, answers = pair.resources["draft"], []

    def result(**options):
        answers.append(1)
        if len(answers) == 4:
            raise DraftDied("The draft process died.")
        return type(draft).result(draft)

    draft.result = result
    trace = runner.collect(runner.stream(pair, "duodecoding", "hi", SETTINGS))
    assert trace["end"]["stopped"] == "error" and trace["end"]["message"] == "The draft process died."
    assert len(trace["iterations"]) == 3 and runner.summary(trace)["text"]


def test_compare_alternates_and_gives_both_baselines():
    pair = tiny_pair(noise=0.0)
    rows = list(runner.compare(pair, ["hi", "you"], runner.lanes(["vanilla", "duodecoding"], SETTINGS), repeats=2))
    lanes = [(row["method"], row["cores"]) for row in rows]
    forward = [("vanilla", "all"), ("vanilla", "target"), ("duodecoding", "all")]
    # The first round is a warm-up; then the order turns round each time.
    assert lanes == [*reversed(forward), *forward] * 2
    table = {(line["method"], line["cores"]): line for line in runner.table(rows)}
    assert set(table) == set(forward)
    assert table["vanilla", "all"]["phi"] == table["vanilla", "target"]["phi_same_cores"] == 1
    assert table["duodecoding", "all"]["runs"] == table["duodecoding", "all"]["same_text"] == 4
    assert table["vanilla", "all"]["tau"] == 1 < table["duodecoding", "all"]["tau"]
