"""The notebook in `examples`, cell by cell."""

import ast
import json

from tests.app import ROOT


def executed(source, names):
    """Run a cell; its last expression's value, None where it does not end with one."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def test_two_engines_write_the_same_text_and_every_cell_shows_something(embedded_engine, capsys):
    notebook = json.loads((ROOT / "examples" / "two_engines.ipynb").read_text())
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names = {}
    shown = [value._repr_html_() for source in sources if (value := executed(source, names)) is not None]
    assert [html.startswith("<iframe") for html in shown] == [True, False, True, False]
    assert "same text: True" in capsys.readouterr().out
    runs = names["run"], names["assisted"]
    assert all(run.metrics["new_tokens"] == 80 and run.metrics["accepted"] > 0 for run in runs)
