"""A run of the Lab: every answer once, whatever stops it; what goes wrong in one answer ends none of the others."""

import shutil
from collections import Counter
from dataclasses import replace

import pytest

from duoviz.decoding import METHODS
from duoviz.decoding.drafter import Drafter
from duoviz.errors import UserError
from duoviz.lab.bench import bench, jobs_of, lengths, seconds_left, verdict
from duoviz.lab.machine import environment
from duoviz.lab.plan import DUO, VANILLA, make_plan
from duoviz.lab.results import load, opened
from duoviz.lab.rows import key
from tests.lab.asked import QUESTIONS, TOKENS, written
from tests.tiny import VOCABULARY, Failing, draft_with, tiny_engine, traced

# The methods, vanilla on fewer cores, and the seven of Tables 2 and 3.
LANES = len(METHODS) + 8

BAD = {7: "The prompt is too long", 8: "The question is empty"}


def run(path, plan, **options):
    with opened(path) as folder:
        return list(bench(tiny_engine(), plan, folder, **options))


def test_every_answer_is_there_once_and_failures_stand_apart(finished, questions):
    results = load(finished)
    wanted = {job.key for job in jobs_of(make_plan(quick=True, file=questions, max_new_tokens=TOKENS))}
    found = Counter(key(row) for row in results.rows + results.failed)
    assert set(found) == wanted and set(found.values()) == {1}
    for row in results.failed:
        # The datastore that comes along is for another tokenizer.
        assert BAD.get(row["question_id"], "datastore") in row["message"]
    assert {row["question_id"] for row in results.failed if row["model_id"] == VANILLA} == set(BAD)
    assert {row["verdict"] for row in results.rows if row["model_id"] != VANILLA} == {"equal"}
    assert len({lane for lane, *_ in wanted}) == LANES
    assert [row["length"] for row in results.forwards] == lengths(256) == [64, 128, 248]
    here = environment(tiny_engine().pair, {}, results.environment["delta"])
    assert {name for name, value in here.items() if value != results.environment[name]} <= {"date", "costs"}


def test_answers_come_first_and_the_times_of_figure_1_last_or_not_at_all(questions, tmp_path):
    options = {"quick": True, "file": questions, "methods": ["vanilla"], "per_task": 1, "max_new_tokens": 4}
    for ablations in (True, False):
        texts = [each.text for each in run(tmp_path / str(ablations), make_plan(**options, ablations=ablations))]
        figures = [text.startswith("Figure 1") for text in texts]
        assert figures[2:] == sorted(figures[2:]) and any(figures) == ablations and len(texts) > 10


def test_answers_are_in_spec_benchs_format(finished):
    # That the numbers of turns and iterations agree is checked as they are loaded.
    for row in load(finished).rows:
        assert {"question_id", "category", "model_id", "answer_id", "choices", "tstamp"} <= set(row)
        answer, asked = row["choices"][0], QUESTIONS[row["question_id"] - 1]
        assert len(answer["turns"]) == len(asked["turns"])
        assert sum(answer["accept_lengths"]) == sum(answer["new_tokens"]) > 0
    assert {file.stem for file in finished.glob("answers/*")} == {row["model_id"] for row in load(finished).rows}


def test_a_second_turn_is_asked_with_the_first_answer_in_the_conversation(finished):
    row = next(row for row in load(finished).rows if key(row) == (DUO, 1, 0))
    first, second = row["measured"]
    engine, text = tiny_engine(), "tell me" + row["choices"][0]["turns"][0] + "and now?"
    alone = traced(engine, "vanilla", text, max_new_tokens=TOKENS)
    assert second["prompt_tokens"] == alone["header"]["prompt_tokens"] > first["prompt_tokens"]
    assert second["token_ids"] == [token["id"] for each in alone["iterations"] for token in each["committed"]]


def test_a_folder_that_goes_away_ends_the_run_in_a_sentence_and_does_not_come_back(questions, tmp_path):
    out = tmp_path / "out"
    plan = make_plan(quick=True, file=questions, methods=["vanilla"], max_new_tokens=TOKENS)
    for gone in ("Warming up", "Figure 1", "Vanilla"):
        with pytest.raises(UserError, match="out cannot be written: No such file or directory"), opened(out) as folder:
            for progress in bench(tiny_engine(), plan, folder):
                if progress.text.startswith(gone):
                    shutil.rmtree(out)
        assert not out.exists()


def test_results_of_another_run_are_not_mixed_and_two_runs_do_not_share_a_folder(finished, questions, tmp_path):
    with pytest.raises(UserError, match=r"a different max new tokens \(12, now 9\): choose another folder"):
        run(finished, make_plan(quick=True, file=questions, max_new_tokens=9))
    namesake = tmp_path / questions.name
    namesake.write_text(questions.read_text() + "\n")
    with pytest.raises(UserError, match=rf"source \({questions.name} SHA-256 \w+, now {questions.name} "):
        run(finished, make_plan(quick=True, file=namesake, max_new_tokens=TOKENS))
    with opened(finished), pytest.raises(UserError, match="Another run is writing"), opened(finished):
        pass


def test_a_run_that_goes_on_keeps_its_date(finished, tmp_path):
    with opened(shutil.copytree(finished, tmp_path / "copy")) as folder:
        held = folder.load()
        folder.begin(held.plan, held.environment | {"date": "2099-01-01T00:00:00+00:00"})
        assert folder.load().environment["date"] == held.environment["date"]


class Broken(Drafter):
    """A method with a defect: its third token is another one than the target's."""

    tokens = 0

    def observe(self, text, verified, own):
        self.tokens += 1
        if self.tokens == 3:
            token = verified.committed[0]
            verified.committed[0] = replace(token, token=(token.token + 1) % VOCABULARY)
        return super().observe(text, verified, own)


def test_a_defect_and_a_crash_are_told_in_their_rows(questions, tmp_path, monkeypatch):
    draft_with(monkeypatch, "prompt_lookup", lambda plan: Broken())
    draft_with(monkeypatch, "lookahead", lambda plan: Failing(ZeroDivisionError("by zero"), after=1))
    progress = run(
        tmp_path, make_plan(quick=True, file=questions, methods=["prompt_lookup", "lookahead"], max_new_tokens=6)
    )
    results = load(tmp_path)
    verdicts = {row["model_id"]: row["verdict"] for row in results.rows}
    assert verdicts == {VANILLA: None, "vanilla-target-cores": "equal", "prompt_lookup": "defect"}
    crashed = [row["message"] for row in results.failed if row["model_id"] == "lookahead"]
    assert crashed.count("ZeroDivisionError: by zero") == len(QUESTIONS) - len(BAD)
    assert any(each.text.endswith("tokens/s, defect") for each in progress)
    assert any("failed. ZeroDivisionError" in each.text for each in progress)


def turn(ids, gap=1.0):
    return {"token_ids": ids, "gaps": [gap] * len(ids)}


@pytest.mark.parametrize(
    "mine, vanillas, expected",
    [
        ([turn([1, 2]), turn([3])], [turn([1, 2]), turn([3])], "equal"),
        ([turn([1, 2], 1e-5), turn([3])], [turn([1, 4], 1e-5), turn([9])], "tie"),
        ([turn([1, 2]), turn([3])], [turn([1, 2]), turn([4])], "defect"),
        ([turn([1, 2], 1e-5), turn([3])], [turn([1, 4]), turn([3])], "defect"),
        ([{"token_ids": [1]}], [turn([1])], None),
    ],
)
def test_an_answer_is_judged_up_to_the_first_turn_that_differs(mine, vanillas, expected):
    assert verdict({"measured": mine}, {"measured": vanillas}, 1e-4) == expected


def test_the_order_alternates_after_vanilla_and_sees_all_tasks_first(questions):
    plan = make_plan(file=questions, repeats=2)
    assert list(dict.fromkeys(job.question.id for job in jobs_of(plan)))[:5] == [1, 2, 7, 3, 5]
    lanes = [job.lane.name for job in jobs_of(plan)]
    assert lanes[0] == VANILLA == lanes[LANES] and lanes[1:LANES] == lanes[2 * LANES - 1 : LANES : -1]
    assert {job.lane.settings.max_new_tokens for job in jobs_of(plan) if job.question.task == "qa"} == {32}


def test_the_lanes_of_tables_2_and_3_run_on_the_papers_tasks_or_on_all_where_there_are_none(questions, tmp_path):
    plans = [make_plan(file=file) for file in (questions, written(tmp_path, QUESTIONS[4:5]))]
    assert [len(plan.lanes("rag")) for plan in plans] == [LANES - 7, LANES]


def test_the_time_left_follows_the_answers_until_now(questions, finished):
    rows, plan = load(finished).rows, make_plan(quick=True, file=questions, max_new_tokens=TOKENS)
    left = [job for job in jobs_of(plan) if job.question.id not in BAD and job.lane.name != "rest"]
    spent = sum(sum(row["choices"][0]["wall_time"]) for row in rows)
    assert seconds_left(rows, left) == pytest.approx(spent) and seconds_left([], left) is None
