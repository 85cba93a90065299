"""What the command lines print: in any encoding, at once where nothing is computed, into a pipe that may be closed."""

import json
import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper

import pytest

import duoviz
from duoviz import commands
from duoviz.__main__ import main
from duoviz.training.__main__ import main as training
from tests.app import ROOT
from tests.tiny import tiny_engine

COMMANDS = "serve generate compare bench ship export record datastore space".split()
HELP = [(main, []), *((main, [command]) for command in COMMANDS), (main, ["datastore", "build"])]
HELP += [(training, []), *((training, [command]) for command in ("draft", "chances"))]


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(commands, "load_engine", lambda name, progress: tiny_engine(context=640))


@pytest.fixture
def encoded(monkeypatch):
    """Gives standard output the poorest encoding, and what it will be given."""

    def begin():
        output = BytesIO()
        monkeypatch.setattr("sys.stdout", TextIOWrapper(output, encoding="ascii"))
        return lambda: output.getvalue().decode("ascii")

    return begin


def test_every_command_has_help_in_any_encoding(encoded):
    printed = encoded()
    for entry, command in HELP:
        with pytest.raises(SystemExit, match="^0$"):
            entry([*command, "--help"])
    assert printed().count("usage: ") == len(HELP) and r"\u03b3" in printed()


@pytest.mark.parametrize("letter", ["🦙", "\ud800"])
def test_json_is_json_in_any_encoding(letter, encoded, monkeypatch):
    printed = encoded()
    monkeypatch.setattr("tests.tiny.DigitTokenizer.decode", lambda tokenizer, ids, **options: letter * len(ids))
    assert main(["generate", "hi", "--max-new-tokens", "3", "--json"]) == 0
    assert json.loads(printed().splitlines()[-1])["text"] == 3 * letter


@pytest.mark.parametrize("command", [["generate", "hi"], ["compare", "--prompts", "hi", "--methods", "vanilla"]])
def test_who_reads_no_more_ends_a_command_silently(command, monkeypatch, tmp_path, capfd):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as closed:
        monkeypatch.setattr("sys.stdout", closed)
        assert main([*command, "--max-new-tokens", "9", "--trace", str(tmp_path / "kept")]) == 141
    kept = tmp_path / "kept"
    trace = json.loads((kept if command[0] == "generate" else next(kept.iterdir())).read_text())
    assert trace["header"] and trace["end"]
    assert "duoviz: " not in capfd.readouterr().err


def test_output_that_cannot_be_written_is_told(monkeypatch, capsys):
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(["generate", "hi", "--max-new-tokens", "3"]) == 1
    assert capsys.readouterr().err == "duoviz: The output cannot be written: No space left on device.\n"


def test_the_version_and_the_name_that_was_typed(monkeypatch, capsys):
    for program, name in (("/usr/bin/duoviz", "duoviz"), ("/lib/duoviz/__main__.py", "python -m duoviz")):
        monkeypatch.setattr("sys.argv", [program])
        for arguments, told in ((["--version"], f"duoviz {duoviz.__version__}\n"), (["--help"], f"usage: {name} [-h]")):
            with pytest.raises(SystemExit, match="^0$"):
                main(arguments)
            assert capsys.readouterr().out.startswith(told)


def test_the_page_is_served_where_the_options_say(monkeypatch):
    asked = []
    monkeypatch.setattr("duoviz.web.start.serve", asked.append)
    assert main(["serve", "--host", "0.0.0.0", "--port", "8000", "--places", "2"]) == main(["serve"]) == 0
    given = [(options.places, options.ray, options.host, options.port) for options in asked]
    assert given == [("2", None, "0.0.0.0", 8000), (None, None, None, None)]


def test_help_and_complaints_import_nothing_that_computes():
    code = f"""
import sys
from duoviz.__main__ import main
from duoviz.training.__main__ import main as training
for arguments in {[command for entry, command in HELP if entry is main]}:
    for more in (["--help"], ["--no-such-option"]):
        try: main([*arguments, *more])
        except SystemExit: pass
try: training(["draft", "--help"])
except SystemExit: pass
print([name for name in ("torch", "transformers", "gradio", "numba", "huggingface_hub") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]" and "Traceback" not in done.stderr


def test_a_closed_pipe_ends_the_process_that_was_started():
    reader, writer = os.pipe()
    os.close(reader)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for arguments in (["--version"], ["generate", "--help"]):
        command = [sys.executable, "-m", "duoviz", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=writer, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (141, "")
    os.close(writer)
