"""What the quick part of the tests is, and what it leaves out."""

import ast
from pathlib import Path

import pytest

import duoviz
from duoviz.decoding import METHODS
from duoviz.folders import ASSETS
from duoviz.models.embedded import embedded_target
from duoviz.models.loading import ModelUnavailable
from duoviz.recordings import ENDING
from tests.parts import NOT_QUICK, TESTS

QUICK_FILES = [file for file in TESTS.rglob("*.py") if file.relative_to(TESTS).parts[0] not in NOT_QUICK]
MODULES = [
    (package, module.stem)
    for package in ("models", "decoding", "trace", "lab")
    for module in (Path(duoviz.__file__).parent / package).glob("[!_]*.py")
]


def imported(file):
    """The modules that a file imports, and what it takes from them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{each.name}" for each in node.names))
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def test_every_module_of_what_computes_has_a_quick_test():
    files = [file for file in QUICK_FILES if file.name.startswith("test_")]
    tested = {tuple(name.split(".")[1:3]) for file in files for name in imported(file) if name.startswith("duoviz.")}
    own = {(file.parent.name, file.stem.removeprefix("test_")) for file in files}
    assert [module for module in MODULES if module not in tested | own] == []


def test_a_quick_test_has_neither_a_browser_nor_the_embedded_pair(request):
    quick = [item for item in request.session.items if "quick" in item.keywords]
    assert request.node in quick and not any({"browser", "embedded_engine"} & set(item.fixturenames) for item in quick)
    names = {name for file in QUICK_FILES for name in imported(file)}
    assert not [name for name in names if name.startswith(("playwright", "gradio", "tests.e2e", "tests.web"))]
    with pytest.raises(ModelUnavailable):
        embedded_target()


def test_every_method_is_told_of_and_recorded():
    told = (TESTS.parent / "README.md").read_text(encoding="utf-8")
    glossary = (ASSETS / "lessons" / "glossary.md").read_text(encoding="utf-8")
    for id, method in METHODS.items():
        assert f"| `{id}`" in told, f"the README's table of methods has no row for {id}"
        assert method.title in glossary, f"assets/lessons/glossary.md has no term {method.title}"
        recording = ASSETS / "traces" / f"{id}{ENDING}"
        assert recording.is_file(), f"there is no recording of {id}: python -m duoviz record --out assets/traces"
