"""The Compare tab: what it asks of the hardware, and what it shows."""

import json
import time

import pytest

from duoviz import runs
from duoviz.decoding.drafter import Drafter
from duoviz.decoding.settings import Settings
from duoviz.decoding.worker.protocol import DraftDied
from duoviz.errors import UserError
from duoviz.web.limits import Limits
from duoviz.web.pages.compare import asked, lanes_of
from duoviz.workers.tasks import Comparison
from tests.thread_workers import worker_of
from tests.tiny import Failing, draft_with, held_engine, tiny_engine
from tests.web.visits import SENT, events_in, events_of, functions, start, started, visitor

OWN = ("acceptance", "sequences", "budget", "draft_mode", "cores")
SHORT = Settings(max_new_tokens=12)


def sent(**changes):
    common = {name: value for name, value in SENT.items() if name not in OWN}
    sides = {f"{side}_{name}": SENT[name] for side in ("first", "second") for name in OWN}
    about = {"prompt": "hello", "pair": "embedded", "raw": False, "repeats": 1.0, "like_for_like": False}
    methods = {"first_method": "vanilla", "second_method": "duodecoding"}
    return about | common | sides | methods | changes


def comparison(first="vanilla", second="duodecoding", *, settings=SHORT, repeats=1, like_for_like=False, **about):
    lanes = lanes_of(settings, settings, (first, second), like_for_like=like_for_like)
    return Comparison(**{"pair": "embedded", "prompt": "hello", "raw": False} | about, repeats=repeats, lanes=lanes)


def lane_events(events, name):
    return [event["event"] for event in events if event["type"] == "lane" and event["lane"] == name]


def test_both_sides_share_some_settings_and_have_others_of_their_own():
    job = asked(
        Limits(), **sent(temperature=0.7, seed=3.0, second_sequences="2", first_cores="target", second_budget="5")
    )
    first, second, all_cores = job.lanes
    assert (first.name, second.name) == ("the large model alone on DuoDecoding's target cores", "DuoDecoding")
    assert (first.settings.cores, second.settings.sequences, second.settings.budget) == ("target", 2, 5)
    assert first.settings.seed == second.settings.seed == all_cores.settings.seed == 3
    assert (all_cores.method, all_cores.settings.cores) == ("vanilla", "auto") and job.repeats == 1
    with pytest.raises(UserError, match="Draft budget γ .*enter auto or a whole number from 1 to 64, not 'much'"):
        asked(Limits(), **sent(second_budget="much"))


def test_the_baselines_are_run_unless_a_side_is_one():
    def names(*methods, like_for_like, cores="auto"):
        first = Settings(cores=cores)
        return [lane.name for lane in lanes_of(first, Settings(), methods, like_for_like=like_for_like)]

    assert names("vanilla", "duodecoding", like_for_like=False) == ["the large model alone", "DuoDecoding"]
    both = ["the large model alone", "DuoDecoding", "the large model alone on DuoDecoding's target cores"]
    assert names("vanilla", "duodecoding", like_for_like=True) == both
    assert names("speculative", "rest", like_for_like=False) == ["SpS", "REST", "the large model alone"]
    assert len(names("speculative", "rest", like_for_like=True)) == 4
    assert names("vanilla", "lookahead", like_for_like=True, cores="target")[2:] == ["the large model alone"]
    assert names("rest", "rest", like_for_like=False) == ["REST (first)", "REST (second)", "the large model alone"]


def test_each_side_streams_alone_and_the_end_says_what_it_came_to(hardware):
    job = started(hardware, comparison(repeats=3, like_for_like=True))
    events = events_of(hardware, job)
    order = [
        (event["lane"], event["repeat"])
        for event in events
        if event["type"] == "lane" and event["event"]["type"] == "header"
    ]
    names = [lane.name for lane in job.task.lanes]
    assert order == [(name, repeat) for repeat in range(3) for name in (names if repeat % 2 == 0 else names[::-1])]
    for name in names:
        kinds = [event["type"] for event in lane_events(events, name)]
        assert kinds.count("end") == 3 and kinds[-1] == "end"
    told = [event["text"] for event in events if event["type"] == "status" and event["text"].startswith("Warming")]
    order = f"{names[2]}, the baseline of the speed-up φ", *reversed(names[:2])
    assert told == [f"Warming up, {number} of 3: {name}." for number, name in enumerate(order, 1)]
    result = events[-1]["result"]
    assert events[-1]["type"] == "end" and events[-1] == job.ended and json.loads(json.dumps(result)) == result
    first, second, _ = result["lanes"]
    assert result["verdict"]["verdict"] == "equal" and result["verdict"]["tokens"] == 12
    assert first["summary"]["token_ids"] == second["summary"]["token_ids"] and first["figures"]["phi"] == 1
    assert second["figures"]["runs"] == 3 and second["figures"]["tps_lowest"] <= second["figures"]["tps"]
    baselines = result["baselines"]
    assert [baselines[which]["lane"] for which in ("all", "target")] == ["the large model alone", names[2]]
    assert len(result["sentences"]) >= 2


@pytest.mark.parametrize("warms_up", [False, True])
def test_a_side_that_fails_says_so_and_the_other_stays(hardware, monkeypatch, warms_up):
    def dies(plan):
        lives = warms_up and plan.settings.max_new_tokens <= runs.WARMUP_TOKENS
        return Drafter() if lives else Failing(DraftDied("The draft process died."), after=3)

    draft_with(monkeypatch, "duodecoding", dies)
    events = events_of(hardware, started(hardware, comparison(settings=Settings(max_new_tokens=20), repeats=2)))
    result, (first, second) = events[-1]["result"], events[-1]["result"]["lanes"]
    assert first["error"] is None and first["figures"]["runs"] == 2 and second["error"] == "The draft process died."
    if warms_up:
        verdict = result["verdict"]
        assert second["figures"]["tokens"] == verdict["tokens"] == 3 and verdict["verdict"] == "equal"
    else:
        # It died in its warm-up, and did not run again.
        assert second["figures"] is None
        assert [event["type"] for event in lane_events(events, "DuoDecoding")] == ["error"]


def test_a_comparison_has_one_place_in_the_line_and_one_time_and_its_end_keeps_what_was_written(make_hardware, endless):
    hardware = make_hardware(
        lambda name, progress: held_engine(lambda: worker_of(hardware).cancelled()), run_seconds=90
    )
    first = start(hardware, method=endless)
    job = started(hardware, comparison(settings=Settings(max_new_tokens=4000)))
    assert hardware.queue.ahead(job) == 1 and len(hardware.queue) == 2
    first.stop.set()
    events = []
    for batch in hardware.batches(job):
        events += batch
        if len(lane_events(events, "the large model alone")) >= 4:
            job.deadline = time.monotonic()
    end = lane_events(events, "the large model alone")[-1]["end"]
    assert end["stopped"] == "time" and end["message"] == "Stopped: a run may take 90 seconds here."
    result, (first, second) = events[-1]["result"], events[-1]["result"]["lanes"]
    assert 3 <= first["figures"]["tokens"] < 4000 and second["figures"] is None
    assert not lane_events(events, "DuoDecoding") and result["verdict"] is None and result["sentences"] == []


def test_a_race_takes_the_place_of_its_visitors_earlier_one(hardware, endless):
    page = functions(hardware)
    earlier = page["race"](visitor("ann"), **sent(first_method=endless))
    next(earlier)
    (first,) = hardware.queue.jobs
    later = page["race_like_for_like"](visitor("ann"), **sent(first_method=endless))
    begin = json.loads(next(later))
    (second,) = hardware.queue.jobs
    assert first.stop.is_set() and begin["run"] == second.id and len(second.task.lanes) == 4
    # The page gets nothing more of the earlier one.
    assert list(earlier) == []
    page["stop_race"](visitor("ann"))
    assert second.stop.is_set()
    list(later)
    assert not hardware.queue


def test_a_client_is_told_both_texts_and_what_the_race_came_to(hardware):
    *progress, result = functions(hardware)["compare"](visitor("ann"), **sent(max_new_tokens=80.0))
    assert progress[-1]["texts"] == {lane["name"]: lane["summary"]["text"] for lane in result["lanes"]}
    assert {"lanes", "baselines", "verdict", "sentences"} <= set(result) and result["baselines"]["target"] is None
    assert all(lane["figures"]["phi_same_cores"] is None and lane["figures"]["phi"] > 0 for lane in result["lanes"])


def test_one_press_races_with_a_larger_target_too_and_says_both_speed_ups(make_hardware):
    loaded = []
    hardware = make_hardware(lambda name, progress: loaded.append(name) or tiny_engine())
    events = events_in(functions(hardware)["race_with_a_larger_target"](visitor("ann"), **sent()))
    first, second = (event["result"] for event in events if event["type"] == "end")
    assert loaded[-2:] == ["embedded", "embedded-as-360m"]
    before, after = (result["lanes"][1]["figures"]["phi"] for result in (first, second))
    said = f"DuoDecoding: φ {after:.2f} with embedded-as-360m, {before:.2f} with embedded."
    assert second["headline"].endswith(said) and said not in first["headline"]


def test_without_a_larger_shape_or_once_stopped_there_is_no_second_race(hardware, endless):
    page = functions(hardware)
    race = page["race_with_a_larger_target"]
    for pair in ("embedded-as-llama-3-8b", "smollm2-1.7b"):
        (event,) = events_in(race(visitor("ann"), **sent(pair=pair)))
        assert (
            event["type"] == "error" and f"'{pair}' has no larger shape: choose one of embedded, " in event["message"]
        )
    running = race(visitor("ann"), **sent(first_method=endless))
    begun = json.loads(next(running))["run"]
    page["stop_race"](visitor("ann"))
    assert {json.loads(value)["run"] for value in running} == {begun} and not hardware.queue
