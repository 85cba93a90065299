"""A method that a test adds in one object: on the page and in Compare."""

import json

import pytest

from duoviz.decoding import METHODS
from duoviz.web.front import methods_json
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
