"""Numbers of tables and sentences, from rows made by hand."""

import math
import random
import re
from statistics import mean, stdev

import pytest

from duoviz.decoding import METHODS
from duoviz.lab import findings, paper, tables
from duoviz.lab.answers import Value, faster_of, rows_of, speed_up
from duoviz.lab.figures import figure_4
from duoviz.lab.plan import DUO, LOOKS, ONE_SEQUENCE, OTHER, SPS, TARGET_ONLY, VANILLA, label_of, look_of
from duoviz.lab.report import shown, table_lines
from tests.lab.made_results import results, row
from tests.toy import TOY


def line(table, label):
    return dict(zip(table.columns, dict(table.lines)[label], strict=True))


def test_table_1_is_total_tokens_over_total_time_and_phi_the_ratio_of_averages():
    made = results(
        row(VANILLA, 1, tokens=100, seconds=10), row(VANILLA, 2, tokens=100, seconds=5),
        row(VANILLA, 3, task="qa", tokens=30, seconds=1), row(VANILLA, 5, task="qa", tokens=15, seconds=1),
        row(SPS, 1, tokens=100, seconds=5), row(SPS, 2, tokens=100, seconds=5),
        row(SPS, 3, task="qa", tokens=30, seconds=0.5),
        # A question that one of the two has not answered counts in the tokens/s, and not in φ.
        row(SPS, 4, task="qa", tokens=30, seconds=1),
    )  # fmt: skip
    table, *papers = tables.table_1(made)
    vanilla, sps = line(table, "Vanilla"), line(table, "SpS")
    assert vanilla["Code, tokens/s"].value == pytest.approx(200 / 15)
    assert vanilla["Code, tokens/s"].spread == pytest.approx(math.sqrt(50)) and vanilla["Code, tokens/s"].n == 2
    assert vanilla["Average, tokens/s"].value == pytest.approx((200 / 15 + 22.5) / 2)
    assert sps["Question answering, tokens/s"].value == 40 and sps["Question answering, tokens/s"].n == 2
    assert sps["φ over vanilla"].value == pytest.approx((20 + 60) / (200 / 15 + 30)) and sps["φ over vanilla"].n == 3
    assert sps["φ over vanilla on the target's cores, see the note"] is None and tables.TARGETS_CORES in table.note
    assert sps["the paper's φ, Llama-2-7b"] == "1.80" and vanilla["φ over vanilla"].value == 1
    assert [table.lines[-1][1][-1] for table in papers] == ["1.58", "2.61"]


def test_a_difference_counts_only_beyond_two_standard_errors():
    base = [row(DUO, n, seconds=10) for n in range(8)]
    faster = [row(SPS, n, seconds=9 + 0.1 * (n % 2)) for n in range(8)]
    noisy = [row(TARGET_ONLY, n, seconds=(8, 12.6)[n % 2]) for n in range(8)]
    sure, unsure = speed_up(faster, base), speed_up(noisy, base)
    assert (sure.verdict, unsure.verdict, speed_up(faster[:4], base).verdict) == ("faster", "tie", "too few")
    # A question moves total tokens over total time by the difference of its time from the mean.
    assert sure.value == pytest.approx(80 / 72.4)
    assert sure.spread == pytest.approx(2 * sure.value * math.sqrt(8 / 7 * 8 * 0.05**2) / 72.4)
    assert findings.in_words(sure, "it") == "10\xa0% faster than it (±\xa00\xa0%)"
    pairs = [({"a": 1.04, "b": 0.9}, False), ({"a": 1.2, "b": 1.3}, False), ({"a": 1.2, "b": 1.3}, True)]
    assert [faster_of(phis, tie=tie) for phis, tie in pairs] == ["neither", "b", "no difference"]
    assert findings.in_words(unsure, "it").startswith("within noise of it (−3\xa0% ±\xa0")
    assert findings.in_words(speed_up(faster[:4], base), "it") == "not comparable with it yet (too few answers)"


def test_the_repeats_of_a_question_are_one_answer():
    base = [row(DUO, n, seconds=10) | {"repeat": repeat} for n in range(5) for repeat in range(2)]
    rows = [row(SPS, n, seconds=9 - n + repeat) | {"repeat": repeat} for n in range(5) for repeat in range(2)]
    once = [row(SPS, n, seconds=19 - 2 * n, tokens=200) for n in range(5)]
    doubled = [row(DUO, n, seconds=20, tokens=200) for n in range(5)]
    assert speed_up(rows, base) == pytest.approx(speed_up(once, doubled)) and speed_up(rows, base).n == 5
    assert speed_up(rows[:8], base).verdict == "too few"


def test_noise_is_that_of_questions_drawn_within_their_tasks():
    """Tasks of different speed are no noise; the estimate is what other draws of questions really scatter by."""
    draw = random.Random(1)

    def drawn(questions):
        return [
            [
                row(lane, f"{task}{n}", task=task, seconds=seconds)
                for lane, seconds in ((DUO, own), (VANILLA, own * draw.uniform(1, 3) * gain))
            ]
            for task, pace, gain in (("a", 1, 1), ("b", 50, 4))
            for n in range(questions)
            for own in [pace * draw.uniform(1, 2)]
        ]

    found = [speed_up(*zip(*drawn(40), strict=True)) for _ in range(300)]
    scatter = 2 * stdev(each.value for each in found)
    assert mean(each.spread for each in found) == pytest.approx(scatter, rel=0.15)


def test_how_far_a_second_run_moved_phi_is_told():
    def made(lane, seconds, repeat):
        return [row(lane, n, seconds=seconds + 0.1 * (n % 3)) | {"repeat": repeat} for n in range(8)]

    once = [*made(VANILLA, 10, 0), *made(DUO, 8, 0), *made(SPS, 8, 0)]
    again = [*made(VANILLA, 10, 1), *made(DUO, 8, 1), *made(SPS, 5, 1)]
    assert len(findings.about_noise(results(*once))) == 1
    # A second time that was cut short says nothing of questions that it did not reach.
    cut = [*once, *made(VANILLA, 10, 1)[:1], *made(DUO, 2, 1)[:1]]
    assert findings.between_repeats(cut) == {DUO: pytest.approx(10 / 2 - 10 / 8)}
    told = findings.about_noise(results(*once, *again))[1]
    assert told.startswith(f"Asked again, φ over vanilla moved by {10.1 / 5.1 - 10.1 / 8.1:.1f}") and "(SpS)" in told


def test_the_fastest_is_faster_than_each_other_beyond_noise():
    def made(lane, seconds, count=8, phase=0):
        return [row(lane, n, seconds=seconds + 0.1 * ((n + phase) % 3)) for n in range(count)]

    lanes = made(VANILLA, 10) + made(TARGET_ONLY, 1)
    assert findings.about_table_1(results(*lanes, *made(DUO, 8), *made(SPS, 9)))[0].startswith("DuoDecoding (φ 1.2")
    tied = findings.about_table_1(results(*lanes, *made(DUO, 8), *made(SPS, 8.01, phase=1), *made("duotree", 12)))
    assert tied[0].startswith("No method is the fastest beyond noise: DuoDecoding (φ 1.2") and "SpS (φ 1.2" in tied[0]
    assert "DuoTree" not in tied[0] and "tie." in tied[0]
    assert findings.about_table_1(results(*lanes, *made(SPS, 20)))[0] == "Vanilla is the fastest, n = 8."
    few = findings.about_table_1(results(*made(VANILLA, 10, 4), *made(DUO, 1, 4)))
    assert few[0] == "Too few answers to say which method is the fastest."


def test_every_method_stands_to_vanilla_and_to_sps(monkeypatch):
    monkeypatch.setitem(METHODS, TOY.id, TOY)
    made = results(*(row(lane, n, seconds=10 + n % 2) for lane in (VANILLA, SPS, DUO, TOY.id) for n in range(8)))
    said = findings.about_table_1(made)
    for lane in (DUO, TOY.id):
        assert any(each.startswith(label_of(lane)) and "of vanilla" in each and "of SpS" in each for each in said), said


def test_what_stands_around_a_figure_is_never_a_rounded_nought():
    values = [Value(18.4, 0.004, 4), Value(18.4, 0.0, 4), Value(1.28, 0.06, 84, 2, mean=True)]
    around = [shown(value)[1].replace("\xa0", " ") for value in values]
    assert around == ["± < 0.1, n = 4", "n = 4", "noise ± 0.06, n = 84"]


def test_a_column_says_once_from_how_many_values_its_figures_come():
    one, other = ([Value(1.0, 0.2, 4), Value(1.0, 0.2, n), Value(7, None, n, 0), None] for n in (4, 5))
    counts = tables.Table("t", "T", "Method", ["Math", "Code", "rows", "paper"], [("a", one), ("b", other)]).counts
    assert counts == [4, None, None, None]
    below = [shown(cell, n)[1].replace("\xa0", " ") for cell, n in zip(one, counts, strict=True)]
    assert below == ["± 0.2", "± 0.2, n = 4", "", ""]


def test_a_rounded_nought_has_no_sign():
    assert shown(Value(-0.4, None, 1, 0))[0] == "0"


def test_noise_and_the_deviation_of_answers_are_columns_of_their_own():
    values = [Value(18.4, 0.5, 4), Value(1.28, 0.06, 84, 2, mean=True)]
    head, *lines = table_lines(tables.Table("name", "title", "Method", ["speed", "φ"], [("SpS", values)]))
    assert head[3:] == ["standard deviation", "noise", "n"]
    assert [line[3:] for line in lines] == [[0.5, None, 4], [None, 0.06, 84]]


@pytest.mark.parametrize("lane, start", [(SPS, 10.0), (DUO, 0.0)])
def test_in_figure_4_the_target_of_sps_begins_when_its_draft_has_ended(lane, start):
    # In the first iteration the target reads the prompt, and in the second the draft.
    times = {"target": [9.0, 9.0, 0.02, 0.02], "draft": [0.0, 9.0, 0.01, 0.01], "draft_steps": [0, 1, 1, 1]}
    figure = figure_4(results(row(lane, **times)))
    assert [line[1:4] for line in figure.data[1:]] == [["target", start, 20.0], ["draft", 0.0, 10.0]]


def test_table_3_says_task_by_task_whether_the_measured_budget_is_the_best():
    rows = []
    for place, lane in enumerate(paper.TABLE_3):
        for n in range(6):
            wobble = 0.05 * ((n * 7 + place) % 3)
            slow = 2 if lane == ONE_SEQUENCE else 0
            steps = {"method": DUO, "budget": [9, 4, 5], "draft_steps": [9, 2, 3]}
            rows.append(row(lane, n, seconds=10 + wobble, **steps))
            rows.append(row(lane, 100 + n, task="translation", seconds=10 + slow + wobble, **steps))
    made = results(*rows)
    table, papers = tables.table_3(made)
    assert [label for label, _ in table.lines] == ["γ −2", "γ −1", "γ", "γ +1", "γ +2"]
    assert line(table, "γ")["γ used, draft steps"].value == 4.5
    assert line(table, "γ")["draft steps made"].value == 2.5
    said = findings.against_the_best(made, ONE_SEQUENCE, paper.TABLE_3, "the measured γ")
    assert said[0] == "The measured γ is at least within noise of the best on 1 of 2 tasks."
    assert any(
        re.match(r"Translation: the measured γ is 17\xa0% slower than DuoDecoding, k = 1, γ .. \(", each)
        for each in said
    )
    assert papers.lines[2] == ("γ", ["98.71", "131.15", "149.68", "89.06"]) and papers.papers


def test_of_many_failed_answers_the_first_are_listed_and_of_a_long_reason_its_beginning():
    failed = [{"model_id": "x", "task": "code", "question_id": n, "message": "y" * 10**6} for n in range(300)]
    table = tables.failures(results(failed=failed))
    assert len(table.lines) == 200 and table.note == "These are the first 200 of 300."
    assert {len(why) for _, (_, _, why) in table.lines} == {500}
    assert not tables.failures(results(failed=failed[:200])).note


def test_table_4_counts_needed_against_predicted():
    needed, k = [1, 1, 3, 9, None, 2], [1, 2, 1, 2, 1, None]
    made = results(row(DUO, needed=needed, k=k), row(ONE_SEQUENCE, needed=[1], k=[1], method=DUO))
    table = tables.table_4(made)
    counts = {label: [cell.value for cell in cells] for label, cells in table.lines}
    assert counts == {"1": [1, 1], "3": [1, 0], "more than 8": [0, 1]}
    assert table.shares == [[0.25, 0.25], [0.25, 0.0], [0.0, 0.25]]
    assert findings.about_table_4(made) == [
        "The predicted k was exactly right in 25 % of 4 iterations, and large enough in 50 %. Always k = 1 would have "
        "been exactly right in 50 %."
    ]


def test_answers_that_failed_or_are_not_vanillas_are_counted():
    failed = {"model_id": "rest", "task": "qa", "question_id": "<7>", "repeat": 0, "message": "No datastore."}
    tie = row(SPS, 2) | {"verdict": "tie"}
    made = results(row(VANILLA), row(SPS), tie, row(SPS, 3) | {"verdict": None}, failed=[failed])
    table = tables.checks(made)
    assert [cell.value for cell in dict(table.lines)["SpS"]] == [1, 1, 0, 1, 0]
    assert [cell.value for cell in dict(table.lines)["REST"]] == [0, 0, 0, 0, 1]
    assert tables.failures(made).lines == [("REST", ["Question answering", "<7>", "No datastore."])]
    assert findings.about_checks(made)[0] == (
        "1 of 2 answers (200 tokens) are vanilla's text, token for token, 1 differ at a numerical tie, 0 are defects."
    )


def test_several_results_stand_side_by_side():
    fast = results(row(VANILLA, seconds=5), row(SPS, seconds=2))
    slow = results(row(VANILLA, seconds=10))
    fast.name = "fast"
    table = tables.compared([slow, fast])
    assert [cell and cell.value for cell in dict(table.lines)["Vanilla"]] == [10, 1, 20, 1]
    assert dict(table.lines)["SpS"][:2] == [None, None] and dict(table.lines)["SpS"][3].value == 2.5
    assert tables.environments([slow, fast]).columns == ["made", "fast"]
    assert rows_of(fast.rows, SPS, "qa") == []


def test_each_method_has_a_look_of_its_own():
    assert set(LOOKS) == set(METHODS) and look_of("again") == OTHER
    for part in ("colour", "mark"):
        assert len({getattr(look, part) for look in LOOKS.values()}) == len(METHODS)


def test_duodecoding_as_published_is_compared_with_vanilla():
    lanes = {VANILLA: 10, "duodecoding-as-published": 12}
    rows = [row(lane, n, seconds=seconds + 0.01 * n) for lane, seconds in lanes.items() for n in range(8)]
    (said,) = findings.about_published(results(*rows))
    assert said == "As published, without our changes, it is 17\xa0% slower than vanilla (±\xa00\xa0%)."
    assert findings.about_published(results(*rows[:8])) == []
