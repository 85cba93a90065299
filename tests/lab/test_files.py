"""A folder of results may be anyone's: nothing outside of it is read, packed or written, and nothing is waited for."""

import os
import shutil
import zipfile
from io import BytesIO

import pytest

from duoviz.__main__ import main
from duoviz.errors import UserError
from duoviz.lab.files import plain_name
from duoviz.lab.results import load, opened, zipped
from duoviz.lab.shipping import ship

READ = ["environment.json", "plan.json", "failed.jsonl", "forwards.jsonl", "answers/vanilla.jsonl"]
MADE = ["report.html", "tables/checks.csv", "figures/time.html"]

# Without an end to what never ends.
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "mine")


def a_link(file):
    elsewhere = file.parent.parent / f"elsewhere-{file.name}"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def a_pipe(file):
    file.unlink()
    os.mkfifo(file)


def a_linked_folder(file):
    a_link(file.parent)


CASES = [
    *((name, spoil) for name in (READ[0], READ[-1], MADE[0]) for spoil in (a_link, a_pipe)),
    *((name, a_linked_folder) for name in (READ[-1], MADE[1])),
]


@pytest.mark.parametrize("name, spoil", CASES)
def test_a_link_or_a_pipe_is_told_and_left_as_it_is(folder, tmp_path, capsys, name, spoil):
    spoil(folder / name)
    before = {file: file.read_bytes() for file in tmp_path.glob("**/elsewhere*") if file.is_file()}
    told = f"mine have a link or a pipe named {os.path.dirname(name) if spoil is a_linked_folder else name}: remove it"
    with pytest.raises(UserError, match=told):
        zipped(folder)
    with pytest.raises(UserError, match=told), opened(folder):
        pass
    if name in READ:
        with pytest.raises(UserError, match=told):
            load(folder)
        with pytest.raises(UserError, match=told):
            ship(folder, tmp_path / "out", "here")
        assert main(["bench", "--beside", str(folder), "--out", str(tmp_path / "out")]) == 1
        assert told in capsys.readouterr().err
    assert before == {file: file.read_bytes() for file in before}


def test_what_else_lies_in_a_folder_is_not_packed(folder, tmp_path):
    (tmp_path / "secret").write_text("secret")
    for name in ("extra.json", "extra.jsonl", "notes.txt", "answers/deeper", "figures/more.csv.part", ".lock"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe.csv")
    (folder / "plan.json.part").write_text("half")
    (folder / "answers" / "a\nb.jsonl").write_text("secret")
    with zipfile.ZipFile(ship(folder, tmp_path / "out", "here")) as shipped:
        assert {f"here/{name}" for name in READ} <= set(shipped.namelist())
        assert "here/extra.jsonl" not in shipped.namelist()
        assert not any(b"secret" in shipped.read(name) for name in shipped.namelist())
    with zipfile.ZipFile(BytesIO(zipped(folder))) as packed:
        names = packed.namelist()
        assert not any(b"secret" in packed.read(name) for name in names)
    assert {f"mine/{name}" for name in (*READ, *MADE)} <= set(names)
    assert not [name for name in names if "extra" in name or "pipe" in name or "part" in name or "deeper" in name]
    assert load(folder).rows and (tmp_path / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    "name, plain", [("=1+1", "_1+1"), ("a\udcff\n", "a__"), ("x" * 300, "x" * 60), ("", "results")]
)
def test_any_name_becomes_one_that_a_page_can_show(name, plain):
    assert plain_name(name) == plain
