"""What the quick part of the tests is, and what it leaves out."""

import ast

import pytest

from duoviz.decoding import METHODS
from duoviz.errors import UserError
from duoviz.models.embedded import embedded_target
from duoviz.recordings import ENDING, GAME, LESSONS, STORY
from tests.parts import NOT_QUICK, TESTS

ROOT = TESTS.parent
QUICK_FILES = [file for file in TESTS.rglob("*.py") if file.relative_to(TESTS).parts[0] not in NOT_QUICK]


def imported(file):
    """The modules that a file imports, and what it takes from them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{each.name}" for each in node.names))
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def test_a_quick_test_has_neither_a_browser_nor_the_embedded_pair(request):
    quick = [item for item in request.session.items if "quick" in item.keywords]
    assert request.node in quick and not any({"browser", "embedded_engine"} & set(item.fixturenames) for item in quick)
    names = {name for file in QUICK_FILES for name in imported(file)}
    assert not [name for name in names if name.startswith(("playwright", "gradio", "tests.e2e", "tests.web"))]
    with pytest.raises(UserError):
        embedded_target()


def test_every_method_is_told_of_and_recorded():
    told = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    for id in METHODS:
        assert f"| `{id}`" in told, f"docs/methods.md has no row for {id}"
        for folder in (STORY, LESSONS, GAME):
            assert (folder / f"{id}{ENDING}").is_file(), f"there is no recording of {id}: python -m tests.release"
