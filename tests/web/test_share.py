"""What the tabs share, and the script that shares it."""

from dataclasses import fields

import pytest

from duoviz.decoding.settings import Settings
from duoviz.web.app import build_app


@pytest.fixture(scope="module")
def demo(shared_hardware):
    return build_app(shared_hardware)


def site(demo):
    (bar,) = [block for block in demo.blocks.values() if block.elem_id == "share"]
    return bar.props["site"]


def test_all_that_a_run_depends_on_is_in_its_link(demo):
    live = site(demo)["pages"]["live"]
    # The offset is the Lab's alone.
    own = {each.name: each.default for each in fields(Settings) if each.name != "budget_offset"}
    assert set(live["fields"]) == {"prompt", "method", "pair", "raw", *own}
    defaults = {name: field["default"] for name, field in live["fields"].items()}
    assert defaults.items() >= (own | {"max_new_tokens": 128}).items()
    assert live["visualizer"] == "visualizer" and live["start"] == "generate"
    assert live["reaching"] == ["pair", "rest_datastore"]
    assert site(demo)["pages"]["compare"]["reaching"] == ["pair", "first_rest_datastore", "second_rest_datastore"]


def test_on_a_space_a_link_names_no_other_models_and_leads_to_its_page_on_the_hub(demo, make_hardware, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/duoviz")
    space = site(build_app(make_hardware(on_space=True)))
    assert space["address"] == "https://huggingface.co/spaces/someone/duoviz"
    assert space["pages"]["live"]["fields"]["pair"]["kind"] == "choice"
    assert space["pages"]["live"]["reaching"] == ["pair"]
    assert site(demo)["pages"]["live"]["fields"]["pair"]["kind"] == "text"


def test_every_tab_has_a_link(demo):
    tabs = [each["props"] for each in demo.config["components"] if each["type"] == "tabitem"]
    assert list(site(demo)["pages"]) == [tab["id"] for tab in tabs]
    assert all(tab["elem_id"] == f"tab-{tab['id']}" for tab in tabs)
