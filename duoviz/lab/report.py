"""Results as one self-contained page, and as files: CSV for numbers, HTML for figures."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from plotly.offline import get_plotlyjs

from duoviz.csv_text import csv_text
from duoviz.lab.figures import Figure
from duoviz.lab.findings import TOO_FEW
from duoviz.lab.results import Results, telling, write_atomically
from duoviz.lab.sample import LABEL, SOURCE
from duoviz.lab.sections import Section, sections
from duoviz.lab.tables import Cell, Table
from duoviz.lab.values import Value

HERE = Path(__file__).parent
CONFIG = {"displaylogo": False, "responsive": True, "toImageButtonOptions": {"format": "svg"}}


def write_report(folder: Path, results: Results, beside: Sequence[Results] = ()) -> None:
    """Write tables/, figures/ and report.html into the folder. Raises LabError."""
    parts = sections(results, beside)
    with telling(folder):
        for name in ("tables", "figures"):
            (folder / name).mkdir(exist_ok=True)
        for part in parts:
            for table in part.tables:
                write_atomically(folder / "tables" / f"{table.name}.csv", table_csv(table))
            if figure := part.figure:
                write_atomically(folder / "figures" / f"{figure.name}.csv", csv_text(figure.data))
                file = folder / "figures" / f"{figure.name}.html"
                figure.drawing.write_html(file, include_plotlyjs="directory", config=CONFIG)
        write_atomically(folder / "report.html", report_html(results, parts))


def table_csv(table: Table) -> str:
    """One line a cell: what it stands for, its value, spread and n."""
    lines: list[list] = [[table.head or "line", "column", "value", "standard deviation", "n"]]
    for label, cells in table.lines:
        for column, cell in zip(table.columns, cells, strict=True):
            if cell is not None:
                lines.append([label, column, *(cell[:3] if isinstance(cell, Value) else (cell, None, None))])
    return csv_text(lines)


def report_html(results: Results, parts: Sequence[Section]) -> str:
    """The whole page; it needs no other file and no network."""
    links = "".join(f'<li><a href="#{part.name}">{escape(part.title)}</a></li>' for part in parts)
    drawings = {figure.name: json.loads(str(figure.drawing.to_json())) for part in parts if (figure := part.figure)}
    body = "".join(section_with_figure(part, quick=results.plan["quick"]) for part in parts)
    # No markup of anybody's text ends the script that carries it.
    data = json.dumps({"drawings": drawings, "config": CONFIG}, ensure_ascii=False).replace("<", "\\u003c")
    return PAGE.format(
        title=escape(f"duoviz Lab: {results.name}"),
        about=about_html(results),
        links=links,
        body=body,
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        data=data,
        script=(HERE / "report.js").read_text(encoding="utf-8"),
    )


def about_html(results: Results) -> str:
    """What was measured where, in one paragraph, and whether it is too little."""
    environment, plan = results.environment, results.plan
    devices, precision = environment["devices"], environment["precision"]
    times = "once" if plan["repeats"] == 1 else f"{plan['repeats']} times"
    # A run that was stopped has asked fewer than its plan.
    count = len({row["question_id"] for row in results.rows})
    asked = "one question," if count == 1 else f"{count} questions, each"
    # In UTC, to the minute; but another machine's file may hold anything.
    begun = str(environment["date"])[:16].replace("T", " at ")
    text = (
        f"{environment['models']['target']} in {precision['target']} on {devices['target']}, draft "
        f"{environment['models']['draft']}; greedy, at most {plan['max_new_tokens']} new tokens, {asked} "
        f"{times}. Started on {begun} UTC. {len(results.rows):,} answers."
    )
    if machines := environment.get("machines"):
        text += f" The questions were shared out to {len(machines)} places: all answers to one are of the same place."
    sentence = LABEL if plan["source"] == SOURCE else TOO_FEW
    warning = f'<p class="lab-warning">{escape(sentence)}</p>' if plan["quick"] else ""
    return f"<p>{escape(text)}</p>{warning}"


def section_html(part: Section, *, quick: bool) -> tuple[str, str]:
    """A section: what stands above its figure, and what stands below."""
    above = [f'<h2 id="{part.name}">{escape(part.title)}</h2>']
    above += [table_html(table) for table in part.tables if not table.papers]
    below = [note_html(part.figure.note)] if part.figure else []
    below += [f"<p>{escape(sentence)}</p>" for sentence in (part.facts if quick else part.conclusions + part.facts)]
    if quick and part.conclusions:
        below.append(note_html("A quick run has too few answers to say anything here."))
    if part.papers:
        inner = "".join(table_html(table) for table in part.tables if table.papers)
        below.append(f'<aside class="lab-paper"><p>{escape(part.papers)}</p>{inner}</aside>')
    return "".join(above), "".join(below)


def section_with_figure(part: Section, *, quick: bool) -> str:
    """A section of the report, with a place for its figure."""
    above, below = section_html(part, quick=quick)
    return f'<section class="lab-section">{above}{place_html(part.figure) if part.figure else ""}{below}</section>'


def place_html(figure: Figure) -> str:
    """Where the report's script draws a figure, and the buttons that save it."""
    buttons = " ".join(
        f'<button data-save="{figure.name}" data-format="{format}">{format.upper()}</button>'
        for format in ("svg", "png")
    )
    return (
        f'<div class="lab-scroll"><div class="lab-figure" id="drawing-{figure.name}" role="img" '
        f'aria-label="{escape(figure.title)}"></div></div><p class="lab-note lab-save">Save as {buttons}</p>'
    )


def table_html(table: Table) -> str:
    """A table with its caption and its note."""
    heads = "".join(f'<th scope="col">{heading_html(column)}</th>' for column in (table.head, *table.columns))
    lines = []
    for number, (label, cells) in enumerate(table.lines):
        shares = table.shares[number] if table.shares else [0.0] * len(cells)
        inner = "".join(cell_html(cell, strength) for cell, strength in zip(cells, shares, strict=True))
        lines.append(f'<tr><th scope="row">{escape(label)}</th>{inner}</tr>')
    title = f"<caption>{escape(table.title)}</caption>" if table.papers else ""
    kind = "lab-table lab-words" if table.words else "lab-table"
    return (
        f'<div class="lab-scroll"><table class="{kind}">{title}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>{note_html(table.note)}"
    )


def heading_html(heading: str) -> str:
    """The unit, after the last comma, on a line of its own."""
    name, comma, unit = heading.rpartition(", ")
    return f"{escape(name)}<small>{escape(unit)}</small>" if comma else escape(heading)


def cell_html(cell: Cell, strength: float) -> str:
    """strength: how strongly to shade it, 0..1. A count says itself how many it comes from."""
    shade = f' style="--share: {strength:.3f}"' if strength else ""
    if not isinstance(cell, Value):
        return f"<td{shade}>{escape(cell) if cell is not None else '–'}</td>"
    around = f"± {cell.spread:,.{cell.digits}f}, " if cell.spread is not None else ""
    small = f"<small>{around}n = {cell.n:,}</small>" if around or cell.digits else ""
    return f"<td{shade}>{cell.value:,.{cell.digits}f}{small}</td>"


def note_html(text: str) -> str:
    return f'<p class="lab-note">{escape(text)}</p>' if text else ""


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body class="lab lab-page">
<h1>{title}</h1>
{about}
<nav><ol>{links}</ol></nav>
{body}
<script>{plotly}</script>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
