"""A method that a test adds in one object: on the page and in Compare."""

import json

import pytest

from duoviz import comparison, runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings
from duoviz.web.front import methods_json
from duoviz.web.pages.compare import lanes_of
from tests.tiny import tiny_engine
from tests.toy import TOY
from tests.web.visits import events_of, functions, start


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(METHODS, TOY.id, TOY)


def test_the_page(hardware):
    assert events_of(hardware, start(hardware, method="again"))[-1]["type"] == "end"
    told, *updates = functions(hardware)["show"]("again")
    assert told["info"] == TOY.about
    assert sum(each["visible"] for each in updates) == len(TOY.settings)
    assert json.loads(methods_json())["again"]["proposers"][0]["origin"] == "said again"


def test_compare():
    lanes = lanes_of(
        Settings(max_new_tokens=8), Settings(max_new_tokens=8), ("again", "duodecoding"), like_for_like=True
    )
    assert lanes[0].name == "Again"
    engine = tiny_engine()
    result = comparison.outcome(engine, lanes, list(runner.compare(engine, ["hello"], lanes, warmups=0)), {})
    assert result["lanes"][0]["figures"]["tokens"] == 8 and result["verdict"]["verdict"] == "equal"
    assert any("Again" in sentence for sentence in result["sentences"])
