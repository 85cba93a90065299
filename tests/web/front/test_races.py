"""A race as the page knows it: what is replayed is what was measured, and its file."""

import json

import pytest

from duoviz.trace.metrics import metrics
from tests.benchmarks.visualizer.traces import events_of
from tests.node import evaluate
from tests.trace.wrong_fields import changed
from tests.web.front.runs import LANES, WALL, file_of, race_of, written_at

TIME_OVER = "Stopped: a run may take 90 seconds here."

# What is known after these events, at each of these times, or where it came to.
TOLD = """async ([events, clocks]) => {
  const modules = await Promise.all(["model", "clock", "column", "figures", "finish"].map((name) => (
    import(`http://plain.test/race/${name}.js`))));
  const known = Object.assign({}, ...modules);
  const race = known.emptyRace();
  for (const event of events) known.applyRaceEvent(race, event);
  return (clocks ?? [race.clock]).map((clock) => {
    race.clock = clock;
    known.placeSides(race);
    const sides = known.sidesOf(race).map((lane) => ({
      written: known.writtenBy(lane), all: known.tokensOf(lane), standing: known.standing(race, lane),
      twin: known.twinWords(race, 7), ...known.soFar(race, lane),
    }));
    return { clock, phase: race.phase, message: race.message, headline: known.headlineOf(race), sides };
  });
}"""


def told(events):
    (known,) = evaluate(TOLD, [events, None])
    return known


@pytest.fixture(scope="module")
def plain():
    return race_of()


def test_the_race_replayed_is_the_race_measured(plain):
    rows, events, result = plain
    clocks = [WALL * part / 40 for part in range(41)]
    for clock, known in zip(clocks, evaluate(TOLD, [events, clocks]), strict=True):
        first, second = (len(written_at(row["trace"], clock)) for row in rows)
        assert [side["written"] for side in known["sides"]] == [first, second]
        for side, row, count in zip(known["sides"], rows, (first, second), strict=True):
            assert side["tps"] == (pytest.approx(count / min(clock, row["metrics"]["wall"])) if count else None)
        ahead = f"{LANES[second > first].name} is {abs(first - second)} token"
        assert (ahead if first != second else "both have written") in known["headline"] or clock == WALL
    assert known["headline"] == result["headline"]
    assert [side["standing"] for side in known["sides"]] == ["finished", "✓ first"]
    for row in rows:
        syncs = [each["sync"] for each in row["trace"]["iterations"]]
        moment = next(sync for sync in syncs if len(written_at(row["trace"], sync)) > 7)
        assert f"{1000 * moment:.0f} ms" in known["sides"][0]["twin"] or f"{moment:.2f} s" in known["sides"][0]["twin"]


def test_a_race_that_was_cut_in_a_later_round_says_so(plain):
    (*_, row), (begin, *first_round, end), _ = plain
    *run, last = events_of(row["trace"])
    run.append(last | {"end": last["end"] | {"stopped": "time", "message": TIME_OVER}})
    second_round = [{"type": "lane", "lane": row["method"], "repeat": 1, "event": event} for event in run]
    assert told([begin | {"repeats": 2}, *first_round, *second_round, end])["message"] == TIME_OVER


def test_a_side_that_was_cut_is_not_first_and_nothing_is_concluded_from_it():
    def cut_second(rows):
        trace = rows[1]["trace"]
        del trace["iterations"][3:]
        rows[1]["stopped"] = trace["end"]["stopped"] = "stopped"
        rows[1]["metrics"] = metrics(trace)
        rows[1]["token_ids"] = [token["id"] for each in trace["iterations"] for token in each["committed"]]

    _, events, result = race_of(cut_second)
    known = told(events)
    assert [side["standing"] for side in known["sides"]] == ["finished", "cut short"]
    assert known["headline"] == "" and not result["sentences"]
    assert [lane["figures"]["phi"] for lane in result["lanes"]] == [1, None]


def bad_races(race):
    """Files that hold no race that can be shown, and what is said of them."""
    wrong = {
        ("lanes", 1, "name"): ("Vanilla", "lanes[1].name"),
        ("lanes", 0, "baseline"): (True, "lanes[0].baseline"),
        ("recordings", 1, "lane"): ("nobody", "recordings[1]"),
        ("recordings", 1, "repeat"): (1, "recordings[1]"),
        ("recordings",): ([], "result.lanes[0].repeat"),
        ("result", "lanes"): (race["result"]["lanes"][::-1], "result.lanes"),
        ("result", "headline"): (None, "result.headline"),
        ("recordings", 0, "trace", "iterations", 3, "sync"): (-1, "recordings[0].trace.iterations[3].sync"),
    }
    for path, (value, place) in wrong.items():
        yield changed(race, path, value), f'This file is not a race that can be shown: "{place}" is missing'
    yield changed(race, ("schema",), 2), "This race has schema 2, and this page reads schema 1 at most"
    yield json.dumps(race["recordings"][0]["trace"]), "This file is the trace of one run: open it in the Live tab."
    yield "{", "This file is not a race: it is not JSON."
    yield "[1]", "This file is not a race: it is not a JSON object."


READ = """async (texts) => {
  const { readRace } = await import("http://plain.test/race/race_file.js");
  return Promise.all(texts.map(readRace));
}"""


def test_a_race_is_read_from_its_file_and_a_bad_file_gives_a_sentence(plain):
    race = json.loads(json.dumps(file_of(plain)))
    texts, sentences = zip(*bad_races(race), strict=True)
    good, *bad = evaluate(READ, [json.dumps(race), *texts])
    assert good == {"race": race}
    for read, sentence in zip(bad, sentences, strict=True):
        assert sentence in read["problem"]
