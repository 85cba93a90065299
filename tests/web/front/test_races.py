"""A race's file, as the page reads it."""

import json

from tests.node import evaluate
from tests.trace.wrong_fields import changed
from tests.web.front.runs import file_of, race_of


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


def test_a_race_is_read_from_its_file_and_a_bad_file_gives_a_sentence():
    race = json.loads(json.dumps(file_of(race_of())))
    texts, sentences = zip(*bad_races(race), strict=True)
    good, *bad = evaluate(READ, [json.dumps(race), *texts])
    assert good == {"race": race}
    for read, sentence in zip(bad, sentences, strict=True):
        assert sentence in read["problem"]
