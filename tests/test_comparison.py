"""What runs come to together: figures by hand, and texts that agree or do not."""

import math

import pytest

from duoviz import comparison, runner
from duoviz.comparison import LARGEST_SPREAD, agreed, outcome, table
from duoviz.decoding.costs import ROW_COUNTS, Estimate
from duoviz.decoding.settings import Settings
from duoviz.lab import answers
from tests.lab.made_results import row as answer
from tests.tiny import tiny_engine

SETTINGS = Settings(max_new_tokens=20)


def row(method, tps, *, cores="auto", repeat=0, prompt="hi", ids=(1, 2), name=None):
    metrics = {"tps": tps, "ttft": 0.1, "tau": 1.0, "acceptance": None, "new_tokens": 2, "wall": 2 / tps}
    settings = {"method": method, "cores": cores}
    about = {"prompt": prompt, "method": name or method, "cores": cores, "repeat": repeat, "settings": settings}
    return {**about, "token_ids": list(ids), "metrics": metrics, "stopped": "length"}


def test_speeds_and_speed_ups_are_those_that_the_lab_makes_of_the_same_rounds():
    speeds = {"vanilla": (10.0, 20.0, 40.0, 9.0), "rest": (15.0, 20.0, 120.0)}
    made = {
        name: [row(name, tps, repeat=n, prompt="ab"[n // 2]) for n, tps in enumerate(speeds[name])] for name in speeds
    }
    rows = [*made["vanilla"], *reversed(made["rest"]), row("vanilla", 8.0, cores="target", name="like", prompt="a")]
    lines = {line["method"]: line for line in table(rows)}
    base, rest = (
        [answer(name, n, tokens=2, seconds=2 / tps) for n, tps in enumerate(speeds[name][:3])] for name in speeds
    )
    assert lines["rest"]["phi"] == pytest.approx(answers.speed_up(rest, base).value)
    assert lines["rest"]["tps"] == pytest.approx(answers.mean_of_tasks(rest)[0])
    assert (lines["rest"]["tps_lowest"], lines["rest"]["tps_highest"], lines["rest"]["tokens"]) == (15.0, 120.0, 2)
    assert (lines["rest"]["phi_lowest"], lines["rest"]["phi_highest"]) == (1.0, 3.0)
    assert lines["rest"]["phi_same_cores"] == 15 / 8 and lines["like"]["phi_same_cores"] == 1.0
    assert {name: line["same_text"] for name, line in lines.items()} == {"vanilla": 4, "rest": 3, "like": 1}
    # A baseline that did not run leaves its figure out.
    assert table(made["rest"] + made["vanilla"])[0]["phi_same_cores"] is None


def rows_of(engine, lanes, **options):
    return list(runner.compare(engine, ["hi"], lanes, warmups=0, **options))


def two_lanes(settings=SETTINGS):
    return [runner.Lane("one", "vanilla", settings), runner.Lane("two", "duodecoding", settings)]


def give_speed(entry, tps):
    """Let a row have been so fast."""
    entry["metrics"] |= {"tps": tps, "wall": entry["metrics"]["new_tokens"] / tps}


def test_delta_is_measured_where_texts_differ_and_once(engine):
    first, second = rows_of(engine, two_lanes())
    assert agreed(engine, first, second)["verdict"] == "equal" and engine.delta is None
    changed = second["trace"]["iterations"][-1]["committed"][-1]
    changed["id"] += 1
    differs = agreed(engine, first, second)
    assert differs["verdict"] == "defect" and differs["place"] == 19
    assert differs["delta"] == engine.delta == engine.rounding_delta([1]) < 1e-9
    engine.delta = 1 + max(changed["gap"], first["trace"]["iterations"][-1]["committed"][-1]["gap"])
    assert agreed(engine, first, second)["verdict"] == "tie"


def test_the_outcome_is_of_the_round_of_median_speed(engine):
    lanes = two_lanes()
    rows = rows_of(engine, lanes, repeats=3)
    for number, entry in enumerate(rows):
        give_speed(entry, [5.0, 1.0, 9.0][entry["repeat"]] if entry["method"] == "one" else 10.0 + number)
    result = outcome(engine, lanes, rows, {})
    one, two = result["lanes"]
    assert one["repeat"] == 0 and one["figures"]["tps_highest"] == 9.0 and one["error"] is None
    assert result["baselines"]["all"] == {"lane": "one", "device": one["device"], "tps": one["figures"]["tps"]}
    assert result["baselines"]["target"] is None
    assert result["verdict"]["verdict"] == "equal" and result["verdict"]["sentence"] == "Both wrote the same 20 tokens."


def test_only_what_is_beyond_noise_is_a_winner():
    def said(one, two, **replayed):
        lines = [
            {"method": name, "runs": len(tps), "tps": tps[0], "tps_lowest": min(tps), "tps_highest": max(tps)}
            for name, tps in (("SpS", one), ("PLD", two))
        ]
        seen = {"SpS": one[0], "PLD": two[0]} | replayed
        return comparison.headline(lines, [{"method": name, "metrics": {"tps": tps}} for name, tps in seen.items()])

    assert (
        said([15, 14, 16], [10, 9, 12])
        == "SpS was 1.50 times as fast as PLD (15.0 against 10.0 tokens/s over all rounds)."
    )
    assert said([15, 11, 16], [16, 14, 17]).startswith("No difference beyond noise between PLD and SpS (16.0 against")
    for once in ([15], [15, 14, 16]):
        assert said(once, [10]).startswith("In the runs shown, SpS was 1.50 times as fast as PLD")
    # The rounds that are replayed have clocks of their own.
    for tps, seen in ((13, "over all rounds; 1.30 times in those replayed)."), (15, "over all rounds).")):
        assert said([15, 13, 16], [10, 9, 12], SpS=tps, PLD=10).endswith(seen)


@pytest.mark.parametrize("stopped", ["stopped", "time", "error"])
def test_a_round_that_was_cut_counts_only_where_its_lane_has_no_whole_one(engine, monkeypatch, stopped):
    monkeypatch.setattr(comparison, "LARGEST_SPREAD", LARGEST_SPREAD)
    lanes = two_lanes()
    rows = rows_of(engine, lanes, repeats=3)
    for entry in rows:
        give_speed(entry, {"one": 10.0, "two": 20.0}[entry["method"]] + entry["repeat"])
    # The second round takes them in the other order, and was cut in its first run.
    *_, cut = rows = rows[:3]
    cut["stopped"] = cut["trace"]["end"]["stopped"] = stopped
    give_speed(cut, 1.0)
    result = outcome(engine, lanes, rows, {})
    (lane,) = [lane for lane in result["lanes"] if lane["name"] == cut["method"]]
    assert result["disturbance"] is None and lane["repeat"] == 0 and result["sentences"]
    assert lane["figures"]["tps_lowest"] == lane["figures"]["tps"] > 9 and lane["figures"]["runs"] == 1
    alone = outcome(engine, lanes, [cut], {})
    (lane,) = [lane for lane in alone["lanes"] if lane["name"] == cut["method"]]
    assert lane["figures"]["tps"] == 1.0 and lane["repeat"] == cut["repeat"]
    # A race that ended in its first round: nothing is concluded from the side that was cut.
    (other,) = [entry for entry in rows if entry["repeat"] == 0 and entry["method"] != cut["method"]]
    half = outcome(engine, lanes, [other, cut | {"repeat": 0}], {})
    assert half["disturbance"] is None and half["headline"] == "" and half["sentences"] == []
    (lane,) = [lane for lane in half["lanes"] if lane["name"] == cut["method"]]
    assert lane["figures"]["phi"] is None


def test_the_worst_round_is_the_verdict(engine):
    lanes = two_lanes()
    rows = rows_of(engine, lanes, repeats=3)
    rows[3]["trace"]["iterations"][0]["committed"][0]["id"] += 1
    result = outcome(engine, lanes, rows, {})
    assert result["verdict"]["verdict"] == "defect" and "from token 1 on" in result["verdict"]["sentence"]


def test_lanes_without_a_run():
    lanes = two_lanes()
    result = outcome(tiny_engine(), lanes, [], {"two": "It died."})
    assert [lane["error"] for lane in result["lanes"]] == [None, "It died."]
    assert not any(lane[name] for lane in result["lanes"] for name in ("figures", "summary"))
    assert result["verdict"] is None and result["sentences"] == []


@pytest.mark.parametrize(
    "speeds, slowdown, sentence",
    [
        ((10.0, 12.0, 12.4), None, None),
        (
            (10.0, 12.0, 13.5),
            None,
            "one wrote 10.0 tokens/s in one round and 13.5 in another, more than 1.25 times as many",
        ),
        ((1.0, 1.0), 1.4, None),
        ((1.0, 1.0), 2.2, "the large model's passes took 2.2 times as long as at their fastest here, with one"),
    ],
)
def test_nothing_is_concluded_from_a_busy_machine(monkeypatch, speeds, slowdown, sentence):
    monkeypatch.setattr(comparison, "LARGEST_SPREAD", LARGEST_SPREAD)
    engine, lanes = tiny_engine(), two_lanes()
    rows = rows_of(engine, lanes, repeats=len(speeds))
    for entry in rows:
        give_speed(entry, speeds[entry["repeat"]] if entry["method"] == "one" else 10.0)
        target = Estimate(ROW_COUNTS)
        target.level = math.log(slowdown or 1.0)
        if entry["method"] == "one" and (words := comparison.busy_words(target)):
            entry["trace"]["end"]["message"] = words
    result = outcome(engine, lanes, rows, {})
    if sentence is None:
        assert result["disturbance"] is None and len(result["sentences"]) >= 2
        assert result["lanes"][1]["figures"]["phi"] > 0
    else:
        assert sentence in result["disturbance"] and "no conclusion" in result["disturbance"]
        assert result["sentences"] == [] and result["headline"] == ""
        # What was measured stands, with its lowest and highest round.
        assert result["lanes"][1]["figures"]["phi"] > 0 and comparison.phis(result) == {}
    assert result["verdict"]["verdict"] == "equal"


def test_what_a_run_says_of_its_machine_is_a_warning_and_no_reason():
    engine, lanes = tiny_engine(), two_lanes()
    rows = rows_of(engine, lanes, repeats=1)
    rows[0]["message"] = "It was slow."
    result = outcome(engine, lanes, rows, {})
    assert result["warnings"] == ["One: It was slow."] and not set(result["warnings"]) & set(result["sentences"])


def test_of_several_prompts_one_disturbed_one_does_not_spoil_all(monkeypatch):
    monkeypatch.setattr(comparison, "LARGEST_SPREAD", LARGEST_SPREAD)
    rows = [row("rest", tps, prompt=prompt, repeat=n) for prompt in "abc" for n, tps in enumerate((10.0, 11.0))]
    for entry in rows:
        entry["trace"] = {"end": {}}
    rows[1]["metrics"]["tps"] = 30.0
    assert comparison.disturbance(rows) is comparison.disturbance(rows[:4]) is None
    rows[3]["metrics"]["tps"] = 40.0
    assert "30.0 in another" in comparison.disturbance(rows)


def test_a_method_is_slowed_where_most_of_its_runs_say_so():
    rows, target = [row("rest", 10.0, repeat=n) for n in range(4)], Estimate(ROW_COUNTS)
    target.level = math.log(2.2)
    for number, entry in enumerate(rows):
        entry["trace"] = {"end": {"message": comparison.busy_words(target)} if number < 3 else {}}
    assert "2.2 times as long" in comparison.disturbance(rows) and comparison.disturbance(rows[2:]) is None
