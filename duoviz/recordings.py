"""The recorded runs in `assets/traces`: one of each method, on one prompt, and the text that goes with them."""

import json
from collections.abc import Callable
from pathlib import Path

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.draft_worker import DraftDied
from duoviz.decoding.settings import Settings
from duoviz.models.pairs import Pair
from duoviz.trace.metrics import metrics

FOLDER = Path(__file__).parents[1] / "assets" / "traces"
ENDING = ".duoviz.json"
PROMPT = "Explain in simple words why the sky is blue."
NEW_TOKENS = 128

ABOUT = """# Recorded runs

Real runs of the embedded pair, one of each method, each alone on the machine: nothing in them is
simulated, slowed or picked. Before them every method ran once, unrecorded; then the first run of each was kept.
The page plays one of them before anything is loaded. Each file is a trace (`duoviz/trace/schema.py`): it names its
machine, date, versions and settings. This text is made from the files, and all of it by

```bash
python -m duoviz record --out assets/traces
```

"""
HEADINGS = ("file", "tokens", "target forwards", "tokens/s", "first token, s", "τ", "acceptance", "overlap")


def record(
    pair: Pair, settings: Settings, prompt: str, *, report: Callable[[float, str], None] | None = None
) -> dict[str, dict]:
    """One trace of each method, after one unrecorded run of each. Raises one of `runner.USER_ERRORS`.

    report: called with the share that is done and what comes next.
    """
    rounds = [(kept, method) for kept in (False, True) for method in METHODS]
    traces = {}
    for number, (kept, method) in enumerate(rounds):
        if report:
            report(number / len(rounds), f"{'Recording' if kept else 'Warming up'} {method}")
        trace = runner.collect(runner.stream(pair, method, prompt, settings))
        if trace["end"]["stopped"] == "error":
            raise DraftDied(trace["end"]["message"])
        traces[method] = trace
    return traces


def write(traces: dict[str, dict], folder: Path) -> None:
    """Write each trace to its own file in the folder, and the README made from them. Raises OSError."""
    for method, trace in traces.items():
        text = json.dumps(trace, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{method}{ENDING}").write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(readme(traces), encoding="utf-8")


def readme(traces: dict[str, dict]) -> str:
    """What, where and when, and the figures, all from the traces."""
    headers = {method: trace["header"] for method, trace in traces.items()}
    first = next(iter(headers.values()))
    settings = first["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in first["versions"].items())
    lines = [
        f"- Prompt: {json.dumps(first['prompt'], ensure_ascii=False)}",
        f"- Settings: at most {settings['max_new_tokens']} new tokens, temperature {settings['temperature']:g}, "
        f"seed {settings['seed']}",
        f"- Target: {first['target']['name']}, {first['target']['precision']}",
        *(f"- Draft of {name}: {draft_words(each)}" for name, each in headers.items() if each["draft"]),
        *(f"- Target of {name} on {each['target']['device']}, {each['date']}" for name, each in headers.items()),
        f"- Versions: {versions}",
    ]
    table = [HEADINGS, ["---"] * len(HEADINGS), *(figures(method, trace) for method, trace in traces.items())]
    return ABOUT + "\n".join(lines) + "\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in table) + "\n"


def draft_words(header: dict) -> str:
    draft = header["draft"]
    return f"{draft['name']}, {draft['precision']}, on {draft['device']}"


def figures(method: str, trace: dict) -> list[str]:
    """One row of the table."""
    found = metrics(trace)
    shown = {
        name: "" if found[name] is None else f"{found[name]:.2f}" for name in ("ttft", "tau", "acceptance", "overlap")
    }
    counts = [str(found[name]) for name in ("new_tokens", "target_forwards")]
    return [f"`{method}{ENDING}`", *counts, f"{found['tps']:.1f}", *shown.values()]
