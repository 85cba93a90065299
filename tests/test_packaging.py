"""What is installed and shipped: one list of versions, all that the tests need, and a first line on an older Python."""

import ast
import re
import runpy
import subprocess
import sys
from email.parser import Parser

import pytest
from packaging.requirements import Requirement

from duoviz.space import space_files
from tests.app import ROOT

# What only a clone needs.
OF_A_CLONE = re.compile(r"\.(ci/.*|github/.*|gitignore)")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """What setuptools makes of the project, in a copy of its folder: the metadata, and the files that it ships."""
    copy = tmp_path_factory.mktemp("package")
    for path in ROOT.iterdir():
        if not path.name.startswith(".") and path.name != "duoviz.egg-info":
            (copy / path.name).symlink_to(path)
    making = [sys.executable, "-c", "import setuptools; setuptools.setup()", "--quiet", "egg_info"]
    subprocess.run(making, cwd=copy, check=True, capture_output=True)
    info = copy / "duoviz.egg-info"
    return Parser().parsestr((info / "PKG-INFO").read_text()), set((info / "SOURCES.txt").read_text().splitlines())


def test_the_package_needs_the_versions_that_were_tested(package):
    needed = {Requirement(line) for line in package[0].get_all("Requires-Dist") if "extra ==" not in line}
    pins = {Requirement(line) for line in (ROOT / "requirements.txt").read_text().splitlines()}
    assert needed == pins and all(str(pin.specifier).startswith("==") for pin in pins)
    (cluster,) = [line.split(";")[0] for line in package[0].get_all("Requires-Dist") if "extra ==" in line]
    assert cluster in (ROOT / "requirements-dev.txt").read_text().split()


def test_the_source_distribution_holds_what_a_clone_holds(package):
    left_out = {*space_files(ROOT, ["."])} - package[1]
    assert [file for file in left_out if not OF_A_CLONE.fullmatch(file)] == []
    assert {"CHANGELOG.md", "docs/models.md", "requirements.txt", "tests/conftest.py"} <= package[1]
    assert not any("node_modules" in file or file.endswith((".pyc", ".pyi")) for file in package[1])


def test_an_older_python_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "duoviz/__init__.py"))
    assert str(ended.value).startswith("duoviz needs Python 3.11 or newer, and this is 3.")


@pytest.mark.parametrize("file", ["app.py", "duoviz/__init__.py"])
def test_what_an_older_python_reads_first_is_no_syntax_error(file):
    assert ast.parse((ROOT / file).read_text(), feature_version=(3, 7))
