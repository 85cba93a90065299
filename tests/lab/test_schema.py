"""Results that hold anything anywhere: each file is refused in a sentence, or all that is made of it is drawn."""

import copy
import json
import warnings
from functools import lru_cache, partial, reduce
from io import BytesIO
from operator import getitem

import pytest

from duoviz.lab import prediction
from duoviz.lab.machine import ON_TARGET
from duoviz.lab.plan import DUO, DUOTREE, ONE_SEQUENCE, SPS, TARGET_ONLY, VANILLA
from duoviz.lab.report import first_view, parts_beside, parts_of, report_html, sections, table_csv
from duoviz.lab.results import read_results
from duoviz.outside import Reader, Refused
from tests.release.pages import results_page, summary
from tests.release.picture import picture

NESTED = []
for _ in range(40):
    NESTED = [NESTED]
# JSON texts, by what stands in place of a value.
KINDS = {
    "nothing": "null", "true": "true", "zero": "0", "one": "1", "one half": "0.5", "minus one": "-1",
    "next to nothing": "1e-12", "almost no number": "5e-324", "the shortest": "1e-6", "the longest": "600.0",
    "a count": "99999", "days": "1000000.0", "large": "1e15", "larger": "1e308", "infinite": "1e999", "NaN": "NaN",
    "Infinity": "Infinity", "long": "1" + "0" * 400, "a text": '"x"', "no text": '""', "signs": json.dumps("=<b>\n\0,"),
    "a long text": json.dumps("x" * 201), "half a character": r'"\ud800"', "a list": "[]", "texts": '["x", "x"]',
    "many": json.dumps([1] * 300), "an object": "{}", "nested": json.dumps(NESTED), "twice": '{"a": 1, "a": [2]}',
}  # fmt: skip
LANES = (VANILLA, TARGET_ONLY, SPS, DUO, ONE_SEQUENCE, DUOTREE)
# What stands in a text where a kind's is to go.
HOLE = "\x01hole\x01"


@pytest.fixture(autouse=True)
def quicker(monkeypatch):
    """Maps of the same costs are made once, and those of DuoTree from fewer iterations."""
    monkeypatch.setattr(prediction, "formula_maps", lru_cache(prediction.formula_maps))
    monkeypatch.setattr(prediction, "PLAYED", 2)


@pytest.fixture(scope="module")
def files(finished):
    """The files of a folder, each as the values of its lines; of some lanes two answers, which are quicker to draw."""
    found = {}
    for file in [*finished.glob("*.json*"), *(finished / "answers" / f"{lane}.jsonl" for lane in LANES)]:
        text = file.read_text()
        found[file.relative_to(finished).as_posix()] = (
            [json.loads(line) for line in text.splitlines()[:2]] if file.suffix == ".jsonl" else json.loads(text)
        )
    return found


def places(value, way=()):
    """The ways to all values in one: keys, of lists the first place only, which stands for all."""
    yield way
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*way, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*way, 0))


def spoilt(value, way):
    """The value with a hole at the end of the way, in a list at all of its places; the same without such a way."""
    if not way:
        return HOLE
    if isinstance(value, list) and way[0] == 0:
        return [spoilt(item, way[1:]) for item in value]
    if isinstance(value, dict) and way[0] in value:
        return value | {way[0]: spoilt(value[way[0]], way[1:])}
    return value


def with_hole(content, way):
    """A file's content with a hole there, in every line."""
    return [spoilt(line, way) for line in content] if isinstance(content, list) else spoilt(content, way)


def read(files, kind):
    """The results in files with holes. Raises Refused."""
    texts = {
        name: "".join(f"{json.dumps(line)}\n" for line in value) if isinstance(value, list) else json.dumps(value)
        for name, value in files.items()
    }
    opened = {name: partial(BytesIO, text.replace(json.dumps(HOLE), kind).encode()) for name, text in texts.items()}
    return read_results("bad", opened, Reader())


def draw(results):
    """All that is made of results."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        views = first_view(results), parts_beside(parts_of(results), [copy.copy(results), results])
        parts = sections(results)
        texts = [report_html(results, parts), picture(results), results_page(results), summary(results)]
        texts += [table_csv(table) for part in parts for table in part.tables]
    assert json.dumps(views, allow_nan=False) and all(text.encode() for text in texts)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind, lanes",
    [
        *((kind, "answers/") for kind in KINDS),
        *((kind, "answers/vanilla.jsonl") for kind in ("zero", "large", "a list")),
    ],
)
def test_what_is_not_refused_is_drawn(files, kind, lanes):
    """Each field is refused, or stays spoilt while the next one is; what is spoilt in the end is drawn."""
    refused, kept, answers = 0, files, [name for name in files if name.startswith(lanes)]
    for group in (*([name] for name in files if "/" not in name), answers):
        first = files[group[0]]
        for way in places(first[0] if isinstance(first, list) else first):
            try:
                holes = {name: with_hole(kept[name], way) for name in group}
                read({name: kept[name] for name in ("environment.json", "plan.json")} | holes, KINDS[kind])
                kept = kept | holes
            except Refused as error:
                refused += 1
                assert "\n" not in str(error) and len(str(error)) < 200
    assert refused
    draw(read(kept, KINDS[kind]))


def test_times_that_no_machine_takes_are_no_costs(files):
    environment = copy.deepcopy(files["environment.json"])
    environment["costs"] = spoilt(environment["costs"], ("together", "target", 0, 0))
    with pytest.raises(Refused, match=r'environment.json that lacks "costs.together.target\[0\]\[0\]"'):
        read(files | {"environment.json": environment}, "1e-12")


@pytest.mark.parametrize(
    "path, value",
    [
        (("choices", 0, "accept_lengths"), [1]),
        (("choices", 0, "wall_time"), [0.0]),
        (("measured", 0, "iterations", "seconds"), []),
        (("settings", "method"), "magic"),
        *((("measured", 0, "counts", name), 10**4) for name in ("accepted", "pending_accepted", "hits")),
        *((("measured", 0, "counts", name), value) for name, value in (("sequences_taken", 10**4), ("taken", 0))),
    ],
)
def test_an_answer_that_contradicts_itself_is_refused(files, path, value):
    row = copy.deepcopy(files["answers/duodecoding.jsonl"][1])
    assert read(files | {"answers/duodecoding.jsonl": [row]}, "").rows[-1]
    *way, last = path
    reduce(getitem, way, row)[last] = value
    with pytest.raises(Refused, match="duodecoding.jsonl that lacks"):
        read(files | {"answers/duodecoding.jsonl": [row]}, "")


def test_what_older_versions_did_not_keep_is_not_missed(files):
    older = copy.deepcopy(files)
    for name in ("cpu", "threads", "places"):
        del older["environment.json"][name]
    del older["environment.json"]["costs"][ON_TARGET]
    for row in (row for name in older if name.startswith("answers/") for row in older[name]):
        del row["tstamp"]
        for turn in row["measured"]:
            del turn["iterations"]["draft_rows"], turn["gaps"], turn["token_ids"]
    results = read(older, "")
    turn = results.rows[0]["measured"][0]["iterations"]
    assert turn["draft_rows"] == turn["draft_steps"]
    draw(results)


def test_answers_of_other_engines_that_an_older_version_measured_are_left_out(files):
    (answer, *_) = files["answers/vanilla.jsonl"]
    other = answer | {"model_id": "x", "baseline": "x", "settings": answer["settings"] | {"method": "x loop"}}
    assert read(files | {"answers/x.jsonl": [other]}, "").rows == read(files, "").rows
