"""A race's file, as the page reads it."""

import json

from duoviz.comparison import outcome
from tests.node import evaluate
from tests.tiny import tiny_engine
from tests.trace.wrong_fields import changed
from tests.web.front.runs import LANES, file_of, race_of


def bad_races(race):
    """Files that hold no race that can be shown, and what is said of them."""
    wrong = {
        ("repeats",): (0, "repeats"),
        ("lanes",): ({}, "lanes"),
        ("lanes", 0, "method"): (None, "lanes[0].method"),
        ("recordings", 0, "trace"): ([], "recordings[0].trace"),
        ("result", "verdict"): ({"verdict": "same"}, "result.verdict.sentence"),
        ("result", "baselines", "all"): ({"device": "core 1", "tps": -1}, "result.baselines.all.tps"),
        ("result", "lanes", 1, "figures", "phi"): ("2", "result.lanes[1].figures.phi"),
        ("result", "sentences"): ([1], "result.sentences[0]"),
        ("result", "headline"): (None, "result.headline"),
        ("recordings", 0, "trace", "iterations", 3, "sync"): (-1, "recordings[0].trace.iterations[3].sync"),
    }
    for path, (value, place) in wrong.items():
        yield changed(race, path, value), f'This file is not a race that can be shown: "{place}" is missing'
    for path, value in {
        ("lanes", 1, "name"): "Vanilla",
        ("lanes", 0, "baseline"): True,
        ("recordings", 1, "lane"): "nobody",
        ("recordings", 1, "repeat"): 1,
        ("recordings",): [],
        ("result", "lanes"): race["result"]["lanes"][::-1],
    }.items():
        yield changed(race, path, value), "its parts do not fit together"
    yield changed(race, ("schema",), 2), "This race has schema 2, and this page reads schema 1 at most"
    yield json.dumps(race["recordings"][0]["trace"]), "This file is the trace of one run: open it in the Live tab."
    yield "{", "This file is not a race: it is not a JSON object."
    yield "[1]", "This file is not a race: it is not a JSON object."


READ = """async (texts) => {
  const { readRace } = await import("./race/race_file.js");
  return Promise.all(texts.map(readRace));
}"""


def test_a_race_is_read_from_its_file_and_a_bad_file_gives_a_sentence():
    rows, events, result = race_of()
    halved = outcome(tiny_engine(), LANES, rows[1:], {"Vanilla": "There is no datastore."})
    assert halved["lanes"][0]["error"] and halved["lanes"][1]["figures"]["tps"] > 0
    races = json.loads(json.dumps([file_of((rows, events, result)), file_of((rows[1:], events, halved))]))
    texts, sentences = zip(*bad_races(races[0]), strict=True)
    whole, half, *bad = evaluate(READ, [*map(json.dumps, races), *texts])
    assert [whole, half] == [{"race": race} for race in races]
    for read, sentence in zip(bad, sentences, strict=True):
        assert sentence in read["problem"]
