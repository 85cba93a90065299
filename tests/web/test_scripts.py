"""The modules of each script fit together when they are joined into one, as Gradio takes it."""

import re

import pytest

from duoviz.decoding import METHODS
from duoviz.trace.schema import SCHEMA_VERSION
from duoviz.web import learn, race, script, share

IMPORT = re.compile(r'^import \{ (.+) \} from "([\w./]+)";$', re.MULTILINE)
DEFINITION = re.compile(r"^(export )?(?:const|let|class|(?:async )?function) (\w+)", re.MULTILINE)
ANY_IMPORT = re.compile(r"^\s*import\b", re.MULTILINE)


def files(folder, names):
    return [folder / f"{name}.js" for name in names]


VISUALIZER = files(script.FOLDER, script.MODULES)
# What each script begins with, and its own modules.
SCRIPTS = {
    "visualizer": ([], VISUALIZER),
    "race": (VISUALIZER, files(race.RACE_FOLDER, race.RACE_MODULES)),
    "share": (files(script.FOLDER, share.BORROWED), files(share.FOLDER, share.MODULES)),
    "learn": (VISUALIZER, files(learn.FOLDER, learn.MODULES)),
}


@pytest.mark.parametrize("borrowed, own", SCRIPTS.values(), ids=SCRIPTS)
def test_the_modules_fit_together(borrowed, own):
    assert sorted(own) == sorted(own[0].parent.glob("*.js"))
    exported, defined = {}, []
    for file in [*borrowed, *own]:
        text = file.read_text(encoding="utf-8")
        imports, body = IMPORT.findall(text), IMPORT.sub("", text)
        assert len(imports) == len(ANY_IMPORT.findall(text)) and text.count("\n") < 250
        for names, path in imports:
            source = (file.parent / path).resolve()
            assert source in exported, f"{file.name} imports from {path}, which no module before it is"
            for name in names.split(", "):
                assert name in exported[source], f"{file.name} imports {name}, which {path} does not export"
                assert re.search(rf"\b{name}\b", body), f"{file.name} imports {name} and does not use it"
        found = DEFINITION.findall(text)
        exported[file] = {name for export, name in found if export}
        defined += [name for _, name in found]
    assert len(defined) == len(set(defined)), {each for each in defined if defined.count(each) > 1}
    assert not re.search(r"^\s*(import|export)\b", script.joined([*borrowed, *own]), re.MULTILINE)


def test_files_are_checked_against_this_schema():
    check = (script.FOLDER / "check.js").read_text(encoding="utf-8")
    assert f"const SCHEMA = {SCHEMA_VERSION};" in check
    known = re.search(r"const KNOWN_METHODS = \[(.*)\];", check).group(1)
    assert {name.strip('"') for name in known.split(", ")} == set(METHODS)
