"""The visualizer's modules, joined into the one script that Gradio takes."""

import re

from duoviz.decoding import METHODS
from duoviz.trace.schema import SCHEMA_VERSION
from duoviz.web.script import FOLDER, MODULES, joined_script

IMPORT = re.compile(r'^import \{ (.+) \} from "\./(\w+)\.js";$', re.MULTILINE)
DEFINITION = re.compile(r"^(export )?(?:const|let|class|(?:async )?function) (\w+)", re.MULTILINE)


def text_of(name):
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


def test_every_module_is_joined():
    assert sorted(MODULES) == sorted(path.stem for path in FOLDER.glob("*.js"))


def test_what_is_imported_is_exported_by_an_earlier_module():
    for position, name in enumerate(MODULES):
        imports = IMPORT.findall(text_of(name))
        assert len(imports) == len(re.findall(r"^\s*import\b", text_of(name), re.MULTILINE))
        for names, source in imports:
            assert source in MODULES[:position], f"{name}.js imports from {source}.js, which comes later"
            exported = {defined for export, defined in DEFINITION.findall(text_of(source)) if export}
            assert set(names.split(", ")) <= exported, f"{name}.js imports from {source}.js what it does not export"


def test_what_is_imported_is_used_and_no_name_is_defined_twice():
    defined = [defined for name in MODULES for _, defined in DEFINITION.findall(text_of(name))]
    assert len(defined) == len(set(defined))
    for name in MODULES:
        body = IMPORT.sub("", text_of(name))
        for names, _ in IMPORT.findall(text_of(name)):
            for each in names.split(", "):
                assert re.search(rf"\b{each}\b", body), f"{name}.js imports {each} and does not use it"


def test_the_joined_script_neither_imports_nor_exports():
    script = joined_script()
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert "function mount(root, feed" in script


def test_the_modules_are_short():
    assert all(text_of(name).count("\n") < 250 for name in MODULES)


def test_files_are_checked_against_this_schema():
    check = text_of("check")
    assert f"const SCHEMA = {SCHEMA_VERSION};" in check
    known = re.search(r"const KNOWN_METHODS = \[(.*)\];", check).group(1)
    assert {name.strip('"') for name in known.split(", ")} == set(METHODS)
