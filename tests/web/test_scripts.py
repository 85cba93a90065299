"""The modules of each script fit together when they are joined into one, as Gradio takes it."""

import re

import pytest

from duoviz.decoding import METHODS
from duoviz.web import learn, race, replay, results_view, script, share, visualizer

SCRIPTS = {
    "visualizer": visualizer.GLUE, "race": race.GLUE, "learn": learn.GLUE, "results_view": results_view.GLUE,
    "share": share.GLUE, "replay": replay.START,
}  # fmt: skip
IMPORT = re.compile(r'^import \{ (.+) \} from "([\w./]+)";$', re.MULTILINE)
DEFINITION = re.compile(
    r"^(export )?(?:const|let|class|(?:async )?function\*?) (\w+|[\[{][^=]*[\]}](?= =))", re.MULTILINE
)
ANY_IMPORT = re.compile(r"^\s*import\b", re.MULTILINE)
MODULES = sorted(script.HERE.glob("*/*.js"))


def definitions(text):
    """Whether it is exported, and the name, of all that stands at the top of a script."""
    return [(export, name) for export, names in DEFINITION.findall(text) for name in re.findall(r"\w+", names)]


def exports(file):
    return {name for export, name in definitions(file.read_text(encoding="utf-8")) if export}


@pytest.mark.parametrize("file", MODULES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_module_imports_what_it_uses(file):
    text = file.read_text(encoding="utf-8")
    imports, body = IMPORT.findall(text), IMPORT.sub("", text)
    assert len(imports) == len(ANY_IMPORT.findall(text)) and text.count("\n") < 250
    for names, path in imports:
        for name in names.split(", "):
            assert name in exports((file.parent / path).resolve()), f"{path} does not export {name}"
            assert re.search(rf"\b{name}\b", body), f"{name} is not used"


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_is_one_scope(text):
    joined = script.script(text)
    defined = [name for _, name in definitions(joined)]
    assert len(defined) == len(set(defined)), {each for each in defined if defined.count(each) > 1}
    assert not re.search(r"^\s*(import|export)\b", joined, re.MULTILINE)
    # Nothing at a module's top may run before what it needs.
    places = {file.name: joined.find(file.read_text(encoding="utf-8").partition("\n")[0]) for file in MODULES}
    for file in MODULES:
        for _, path in IMPORT.findall(file.read_text(encoding="utf-8")):
            assert places[path.rpartition("/")[2]] <= places[file.name] or places[file.name] < 0


def test_two_that_have_a_name_are_found():
    told = "const [ONE, OTHER] = [1, 2];\nexport const OTHER = 3;\nasync function one() {\n  const ONE = 4;\n}\n"
    assert [name for _, name in definitions(told)] == ["ONE", "OTHER", "OTHER", "one"]


def test_every_module_is_in_a_script():
    joined = "".join(map(script.script, SCRIPTS.values()))
    assert [file.name for file in MODULES if file.read_text(encoding="utf-8").partition("\n")[0] not in joined] == []


def test_the_scripts_know_the_methods_and_the_shape_of_a_trace():
    joined = script.script(visualizer.GLUE)
    assert all(f'"{method}": {{"title": ' in joined for method in METHODS)
    assert 'const SHAPES = {"header": ["object"' in joined
