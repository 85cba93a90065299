"""The race's modules, joined to the visualizer's into one script."""

import re

from duoviz.web.race import RACE_FOLDER, RACE_MODULES, race_script
from duoviz.web.script import FOLDER, MODULES
from tests.web.test_visualizer import DEFINITION

IMPORT = re.compile(r'^import \{ (.+) \} from "(\./|\.\./visualizer/)(\w+)\.js";$', re.MULTILINE)


def text_of(name, folder=RACE_FOLDER):
    return (folder / f"{name}.js").read_text(encoding="utf-8")


def exported(name, folder):
    return {defined for export, defined in DEFINITION.findall(text_of(name, folder)) if export}


def test_every_module_is_joined():
    assert sorted(RACE_MODULES) == sorted(path.stem for path in RACE_FOLDER.glob("*.js"))


def test_what_is_imported_is_exported_by_an_earlier_module_and_used():
    for position, name in enumerate(RACE_MODULES):
        text = text_of(name)
        imports = IMPORT.findall(text)
        assert len(imports) == len(re.findall(r"^\s*import\b", text, re.MULTILINE))
        body = IMPORT.sub("", text)
        for names, folder, source in imports:
            where = FOLDER if folder.startswith("../") else RACE_FOLDER
            assert source in (MODULES if where == FOLDER else RACE_MODULES[:position])
            assert set(names.split(", ")) <= exported(source, where), f"{name}.js imports from {source}.js"
            assert all(re.search(rf"\b{each}\b", body) for each in names.split(", ")), f"{name}.js imports too much"


def test_no_name_is_defined_twice_in_the_one_script():
    defined = [each for name in MODULES for _, each in DEFINITION.findall(text_of(name, FOLDER))]
    defined += [each for name in RACE_MODULES for _, each in DEFINITION.findall(text_of(name))]
    assert len(defined) == len(set(defined)), {each for each in defined if defined.count(each) > 1}
    assert not re.search(r"^\s*(import|export)\b", race_script(), re.MULTILINE)
    assert all(text_of(name).count("\n") < 250 for name in RACE_MODULES)
