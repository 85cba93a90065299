"""Results as one self-contained page, as files (CSV for tables, HTML for figures), and for the Lab's tab."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, select_autoescape
from plotly.offline import get_plotlyjs

from duoviz.errors import check_write
from duoviz.lab import figures, findings, paper, paying, tables
from duoviz.lab.answers import Value
from duoviz.lab.figures import Figure
from duoviz.lab.files import write_atomically
from duoviz.lab.findings import TOO_FEW
from duoviz.lab.machine import about_speed, about_steps
from duoviz.lab.plan import DUO, ONE_SEQUENCE, VANILLA, label_of
from duoviz.lab.prediction import predictions_of
from duoviz.lab.results import Results
from duoviz.lab.tables import Cell, Table
from duoviz.lab.thumbnail import thumbnail
from duoviz.models.sizes import FEWER_BITS, models_in_words
from duoviz.trace.exports import csv_text

HERE = Path(__file__).parent
CONFIG = {"displaylogo": False, "responsive": True, "toImageButtonOptions": {"format": "svg"}}


@dataclass(frozen=True)
class Section:
    """name: of files and anchors. conclusions: sentences for which a quick run has too few answers; facts: those
    that hold for any run. papers: what the paper has in this place."""

    name: str
    title: str
    tables: list[Table] = field(default_factory=list)
    figure: Figure | None = None
    conclusions: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    papers: str = ""


def sections(results: Results, beside: Sequence[Results] = ()) -> list[Section]:
    """All parts that there are rows for; beside: results of other machines or versions to compare with."""
    lanes = {row["model_id"] for row in results.rows}
    parts = [of_table(tables.compared([results, *beside]))] if beside else []
    if VANILLA in lanes:
        said = findings.about_table_1(results)
        parts.append(of_table(*tables.table_1(results), conclusions=said))
        said = findings.about_figure_3(results)
        parts.append(of_figure(figures.figure_3(results), conclusions=said, papers=paper.FIGURE_3))
    if {DUO, ONE_SEQUENCE} <= lanes:
        said = findings.against_the_best(results, DUO, paper.TABLE_2, "the dynamic number")
        parts.append(of_table(*tables.table_2(results), conclusions=said))
        said = findings.against_the_best(results, ONE_SEQUENCE, paper.TABLE_3, "the measured γ")
        parts.append(of_table(*tables.table_3(results), conclusions=said))
    if DUO in lanes:
        facts = findings.about_table_4(results) + findings.about_drafting(results)
        parts.append(of_table(tables.table_4(results), facts=facts, papers=paper.NO_VALUES))
        parts.append(of_figure(figures.figure_5(results), papers=paper.FIGURE_5))
    if results.forwards:
        facts = findings.about_figure_1(results)
        parts.append(of_figure(figures.figure_1(results), facts=facts, papers=paper.FIGURE_1))
    if lanes:
        parts.append(of_figure(figures.figure_4(results), papers=paper.NO_VALUES))
        parts.append(of_figure(figures.time_split(results), facts=findings.about_time(results)))
        found = predictions_of(results)
        table, said = tables.predictions(found), findings.about_predictions(found)
        parts.append(of_table(table, figure=figures.predicted(found), conclusions=said))
    if DUO in lanes:
        parts.append(of_figure(paying.figure(results), facts=findings.about_paying(results)))
    if lanes or results.failed:
        listed = [tables.failures(results)] if results.failed else []
        parts.append(of_table(tables.checks(results), *listed, facts=findings.about_checks(results)))
    return [*parts, of_table(tables.environments([results, *beside]))]


def of_table(table: Table, *more: Table, **others) -> Section:
    """A table's part; with the paper's own tables stands how they were measured."""
    if any(table.papers for table in more):
        others["papers"] = paper.CONDITIONS
    return Section(table.name, table.title, [table, *more], **others)


def of_figure(figure: Figure, **others) -> Section:
    return Section(figure.name, figure.title, figure=figure, **others)


def write_report(folder: Path, results: Results, beside: Sequence[Results] = ()) -> None:
    """Write tables/, figures/ and report.html into the folder. Raises UserError."""
    parts = sections(results, beside)
    with check_write(folder):
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


def table_lines(table: Table) -> list[list]:
    """A line of column names; then one line a cell: what it stands for, its value, what stands around it, and n."""
    lines: list[list] = [[table.head or "line", "column", "value", "standard deviation", "noise", "n"]]
    for label, cells in table.lines:
        for column, cell in zip(table.columns, cells, strict=True):
            if isinstance(cell, Value):
                around = (None, cell.spread) if cell.mean else (cell.spread, None)
                lines.append([label, column, cell.value, *around, cell.n])
            elif cell is not None:
                lines.append([label, column, cell, None, None, None])
    return lines


def table_csv(table: Table) -> str:
    return csv_text(table_lines(table))


def shown(cell: Cell, n: int | None = None) -> tuple[str, str]:
    """A cell's text, and what stands small below it: how many it comes from where its column's heading does not say so
    (n). A count says that itself.

    Nothing stands around a figure that cannot vary, and never a rounded 0.
    """
    if not isinstance(cell, Value):
        return "–" if cell is None else cell, ""
    below, smallest = list[str](), 10**-cell.digits
    # A narrow column breaks the line after a comma alone.
    if cell.spread:
        before = "noise\xa0" * cell.mean + "±\xa0" + "<\xa0" * (cell.spread < smallest / 2)
        below.append(f"{before}{max(cell.spread, smallest):,.{cell.digits}f}")
    if cell.n != n and cell.is_counted:
        below.append(f"n\xa0=\xa0{cell.n:,}")
    return f"{cell.value:z,.{cell.digits}f}", ", ".join(below)


TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=select_autoescape(("html", "svg")), keep_trailing_newline=True
)
TEMPLATES.filters["shown"] = shown
TEMPLATES.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
PAGE = TEMPLATES.get_template("report.html")


def report_html(results: Results, parts: Sequence[Section]) -> str:
    """The whole page; it needs no other file and no network."""
    return PAGE.render(
        title=f"duoviz Lab: {results.name}",
        intro=about(results),
        parts=parts,
        quick=results.plan["quick"],
        drawings={figure.name: json.loads(str(figure.drawing.to_json())) for part in parts if (figure := part.figure)},
        config=CONFIG,
        plotly=get_plotlyjs(),
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        script=(HERE / "report.js").read_text(encoding="utf-8"),
    )


# What DuoDecoding does here on a CPU.
LENDS = (
    "Our changes: where that is possible and faster, DuoDecoding's target takes over the draft's cores once the draft "
    "is done; and all sequences are drafted together, only as far as guesses are expected to pay."
)


def about(results: Results) -> tuple[str, str, str, str, str]:
    """How DuoDecoding stands, with which models, what was measured where, how fast the machine was, and whether that is
    too little."""
    environment, plan = results.environment, results.plan
    precision, named = environment["precision"], environment["models"]
    times = "once" if plan["repeats"] == 1 else f"{plan['repeats']} times"
    # A run that was stopped has asked fewer than its plan.
    count = len({row["question_id"] for row in results.rows})
    asked = "one question," if count == 1 else f"{count} questions, each"
    # In UTC, to the minute; but another machine's file may hold anything.
    begun = str(environment["date"])[:16].replace("T", " at ")
    # How many methods gave how many answers.
    shares = Counter(Counter(row["model_id"] for row in results.rows).values())
    product = " + ".join(f"{lanes} × {answers}" for answers, lanes in sorted(shares.items(), reverse=True))
    text = (
        f"On {environment['devices']['target']}: greedy, at most {plan['max_new_tokens']} new tokens, {asked} "
        f"{times}. Started on {begun} UTC. {len(results.rows):,} answers: {product} (methods and variants × answers of "
        "each); vanilla's own are what the others are compared with."
    )
    text = " ".join([text, *findings.about_turns(results)])
    speed = about_speed(results.rows, named["target"]) + about_steps(results.rows, environment)
    models = models_in_words(named["target"], named["draft"], precision, environment["versions"].get("duoviz"))
    if environment.get("cpu"):
        models += f" {LENDS}"
    speed = " ".join([speed, *findings.about_noise(results)])
    if plan["quick"]:
        return "", models, text, speed.strip(), TOO_FEW
    stands = (said for said in findings.about_table_1(results) if said.startswith(f"{label_of(DUO)} is "))
    about_duo = [*stands, *findings.about_published(results), *findings.same_text(results)]
    if environment.get("cpu") and precision["target"] == "float32":
        about_duo.append(FEWER_BITS)
    return " ".join(about_duo), models, text, speed.strip(), ""


def first_view(results: Results) -> dict:
    """What the tab shows at once: a paragraph about the results, when drafting pays, and Table 1 as speed-ups."""
    published = findings.published(results)
    overview = {
        "pays": paying.map_data(results)
        | {"why": findings.about_paying(results), "ways": findings.about_ways(results)}
        | {"faster": findings.duo_or_sps(results)},
        "speeds": tables.speed_bars(results)
        | {"fastest": findings.about_table_1(results)[:1], "published": published and published.value},
    }
    return {"about": part_html("about", *about(results)), "overview": overview}


def part_html(macro: str, *values: object) -> str:
    """What one of the page's macros gives."""
    return str(getattr(PAGE.module, macro)(*values))


def parts_of(results: Results) -> dict[str, dict]:
    """The report's sections by name, each to be opened: its title, a small picture, what stands above its figure and
    below, and the figure as plotly's JSON, None where there is none.
    """
    return {part.name: to_open(part, quick=results.plan["quick"]) for part in sections(results)}


def parts_beside(parts: dict[str, dict], several: Sequence[Results]) -> dict[str, dict]:
    """The `parts_of` the first of several results, with those that compare it with the others."""
    compared, environments = (
        to_open(of_table(make(several)), quick=several[0].plan["quick"])
        for make in (tables.compared, tables.environments)
    )
    return {"compared": compared} | parts | {"environment": environments}


def to_open(part: Section, *, quick: bool) -> dict:
    """A section as the tab opens it."""
    drawing = part.figure.drawing if part.figure else None
    return {
        "title": part.title,
        "picture": thumbnail(drawing),
        "above": part_html("above", part),
        "below": part_html("below", part, quick),
        "figure": drawing and drawing.to_json(),
    }
