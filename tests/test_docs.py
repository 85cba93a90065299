"""The README and docs/: links lead somewhere, commands are understood, and the README is short."""

import re
import shlex
from importlib.util import find_spec

import pytest

from duoviz.decoding import METHODS
from duoviz.options import parser
from duoviz.training.__main__ import parser as training_parser
from tests.app import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
COMMAND = re.compile(r"python -m ([\w.]+)([^`\n#]*)")
# What stands for a user's own words.
EXAMPLES = {"OWNER/NAME": "me/duoviz", "DIR…": "other", "html|perfetto|csv": "html", "RUN.duoviz.json": "run.json"}


def text_of(page):
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = LINK.findall(text_of(page))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_reached_from_the_readme():
    links = {(ROOT / link).resolve() for link in LINK.findall(text_of(ROOT / "README.md"))}
    assert {page for page in PAGES if page.name != "README.md"} <= links


def commands():
    return sorted({(module, words.strip()) for page in PAGES for module, words in COMMAND.findall(text_of(page))})


@pytest.mark.parametrize("module, words", commands(), ids=str)
def test_commands_are_understood(module, words):
    assert find_spec(module)
    for example, own in EXAMPLES.items():
        words = words.replace(example, own)
    understood = {"duoviz": parser, "duoviz.training": training_parser}.get(module)
    if understood and " " in words:
        assert understood().parse_args(shlex.split(words))
    elif understood and words:
        with pytest.raises(SystemExit, match="^0$"):
            understood().parse_args([words, "--help"])


def test_every_method_has_its_row():
    told = text_of(ROOT / "docs" / "methods.md")
    assert [id for id in METHODS if f"| `{id}`" not in told] == []
