"""Imports go one way, from what shows runs down to what computes them, and never round in a circle."""

import ast
from graphlib import TopologicalSorter

from tests.app import ROOT

# Each line may import from the lines above it.
LEVELS = """
errors folders outside
models
decoding processes
command_line trace
runs training
comparison
adapters runner
recordings
lab
space workers
web
notebook
api
options
commands file_commands
__main__
"""


def imported():
    """The modules that each module of duoviz imports, wherever it does."""
    files = {str(file.relative_to(ROOT)): file for file in (ROOT / "duoviz").rglob("*.py") if "front" not in file.parts}
    files = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for name, file in files.items()}
    for module, file in files.items():
        nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
        names = {f"{node.module}.{each.name}" for node in nodes for each in node.names}
        yield module, {name if name in files else name.rpartition(".")[0] for name in names} & {*files}


def test_imports_go_one_way():
    level = {name: number for number, line in enumerate(LEVELS.split("\n")) for name in line.split()}
    graph = {module: names - {"duoviz"} for module, names in imported() if module != "duoviz"}
    parts = {(module, module.split(".")[1], name.split(".")[1]) for module in graph for name in graph[module]}
    assert [each for each in parts if each[1] != each[2] and level[each[1]] <= level[each[2]]] == []
    list(TopologicalSorter(graph).static_order())
