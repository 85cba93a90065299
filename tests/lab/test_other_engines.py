"""Lanes of another engine in the Lab: beside ours in one run, each engine's φ over its own vanilla."""

import pytest
from transformers import set_seed

import duoviz
from duoviz.adapters.builder import Drafted, TraceBuilder
from duoviz.adapters.transformers_runs import watch
from duoviz.decoding.method import DRAFT
from duoviz.lab.bench import jobs_of
from duoviz.lab.plan import make_plan
from duoviz.lab.tables import compared
from tests.adapters.test_transformers_runs import PAIRS
from tests.models.folders import tokenizer
from tests.tiny import DigitTokenizer, tiny_engine

VANILLA, DRAFTING = "toy, plain", "toy, drafting"


def answers(step, *, seconds=1.0, said=None, clock=True):
    """An engine that writes 7, 8, 9 over and over, `step` tokens a forward of so many seconds."""

    def answer(messages, max_new_tokens):
        if said is not None:
            said.append([(message["role"], message["content"]) for message in messages])
        names = {"engine": "toy", "method": "loop", "prompt": "hi", "prompt_ids": [4, 5], "target": {"name": "big"}}
        submitted = 0.0 if clock else None
        made = TraceBuilder(
            tokenizer=DigitTokenizer(), max_new_tokens=max_new_tokens, proposer=DRAFT, submitted=submitted, **names
        )
        for number in range(max_new_tokens // max(1, step)):
            ids = [7 + (number * step + place) % 3 for place in range(step)]
            made.add(
                ids,
                drafted=[Drafted(id=id) for id in ids[:-1]],
                accepted=len(ids[:-1]),
                target_seconds=(number * seconds, (number + 1) * seconds),
            )
        return made.trace()

    return answer


def others(**options):
    return [
        duoviz.OtherLane(DRAFTING, answers(3, seconds=1.5, **options), baseline=VANILLA),
        duoviz.OtherLane(VANILLA, answers(1), baseline=VANILLA),
    ]


def measured(folder, lanes, turns="hello\nabc\n"):
    (folder / "q.txt").write_text(turns)
    options = {"questions": folder / "q.txt", "methods": ["speculative"], "max_new_tokens": 6, "table_1": True}
    return duoviz.bench(tiny_engine(noise=0.3), **options, others=lanes)


def test_another_engine_stands_in_every_table_with_phi_over_its_own_vanilla(tmp_path):
    results = measured(tmp_path, others())
    for shown in (results, duoviz.open(results.save(tmp_path / "a.zip"))):
        table = shown.tables["table-1"].query("Method == @DRAFTING").set_index("column")["value"]
        # 3 tokens in 1.5 s, where one takes 1 s.
        assert (table["Average, tokens/s"], table["φ over vanilla"]) == (pytest.approx(2), pytest.approx(2))
        assert "φ over vanilla on the target's cores" not in table
        checks = shown.tables["checks"].query("column == 'equal, answers'").set_index("Method")["value"]
        assert checks[DRAFTING] == 2 and VANILLA not in checks
        assert all(name in shown.to_latex() and name in shown.to_html() for name in (DRAFTING, VANILLA))
    beside = dict(compared([results, results]).lines)[DRAFTING]
    assert [cell.value for cell in beside] == pytest.approx([2, 2, 2, 2])
    assert {VANILLA, DRAFTING, "vanilla", "speculative"} < set(results.to_pandas()["lane"])
    again = results.save(tmp_path / "a.csv").read_text()
    assert again.count(DRAFTING) == 2


def test_lanes_of_all_engines_take_turns_after_both_baselines(tmp_path):
    (tmp_path / "q.txt").write_text("one\ntwo\n")
    plan = make_plan(file=tmp_path / "q.txt", methods=["speculative"], ablations=False, others=others())
    names = [job.lane.name for job in jobs_of(plan)]
    assert names[:2] == names[5:7] == ["vanilla", VANILLA]
    assert names[2:5] == names[7:][::-1] == ["vanilla-target-cores", "speculative", DRAFTING]


def test_a_second_turn_has_the_conversation_before_it(tmp_path):
    said = []
    lanes = [duoviz.OtherLane(VANILLA, answers(1, said=said), baseline=VANILLA)]
    (tmp_path / "q.jsonl").write_text('{"question_id": 1, "category": "x", "turns": ["a", "b"]}\n')
    duoviz.bench(tiny_engine(), questions=tmp_path / "q.jsonl", methods=["vanilla"], max_new_tokens=3, others=lanes)
    assert said[-1] == [("user", "a"), ("assistant", "<7><8><9>"), ("user", "b")]


@pytest.mark.parametrize(
    ("lane", "words"),
    [
        (answers(3, clock=False), "no trace with times: header.clock"),
        (lambda *asked: {"header": {}}, "no trace with times: "),
        (lambda *asked: 1 / 0, "ZeroDivisionError"),
        (answers(0), "says what cannot be: choices[0]"),
    ],
)
def test_what_goes_wrong_there_fails_its_own_answers_only(lane, words, tmp_path):
    results = measured(tmp_path, [others()[1], duoviz.OtherLane(DRAFTING, lane, baseline=VANILLA)])
    assert {row["model_id"] for row in results.failed} == {DRAFTING} and len(results.rows) == 8
    assert {row["message"] for row in results.failed if words not in row["message"]} == set()


@pytest.mark.parametrize(
    ("name", "baseline", "words"),
    [("vanilla", "vanilla", "cannot be a lane's name"), ("a/b", "a/b", "cannot be"), ("a", "b", "baseline, 'b'")],
)
def test_names_that_would_be_mixed_up_are_refused(name, baseline, words, tmp_path):
    with pytest.raises(duoviz.UserError, match=words):
        measured(tmp_path, [duoviz.OtherLane(name, answers(1), baseline=baseline)])


def test_transformers_is_measured_beside_ours(tmp_path):
    model, draft = PAIRS["llama"]
    words = tokenizer()

    def asked(**options):
        def answer(messages, max_new_tokens):
            set_seed(0)
            inputs = words(messages[-1]["content"], return_tensors="pt")["input_ids"]
            own = {"max_new_tokens": max_new_tokens, "do_sample": False, "pad_token_id": 0}
            with watch(model, words) as traces:
                model.generate(inputs, **own, **options)
            return traces[0]

        return answer

    plain = "transformers"
    lanes = [duoviz.OtherLane(plain, asked(), plain)]
    lanes += [duoviz.OtherLane("transformers, assisted", asked(assistant_model=draft), plain)]
    results = measured(tmp_path, lanes, "the cat sat\nrivers flow into the sea\n")
    assert not results.failed
    phi = results.tables["table-1"].query("column == 'φ over vanilla'").set_index("Method")
    assert phi.loc["transformers", "value"] == 1 and phi.loc["transformers, assisted", "n"] == 2
    rows = {row["model_id"]: row for row in results.rows if row["question_id"] == results.rows[0]["question_id"]}
    assisted, alone = (rows[name]["measured"][0] for name in ("transformers, assisted", plain))
    assert assisted["token_ids"] == alone["token_ids"] and rows["transformers, assisted"]["verdict"] == "equal"
    assert assisted["metrics"]["drafted"] > 0 and assisted["counts"]["tested"] > 0
