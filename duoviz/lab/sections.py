"""The parts of a report: tables, a figure, and what the numbers support."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from duoviz.lab import figures, findings, paper, tables
from duoviz.lab.figures import Figure
from duoviz.lab.plan import DUO, ONE_SEQUENCE, VANILLA
from duoviz.lab.results import Results
from duoviz.lab.tables import Table


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
        parts.append(of_table(tables.table_1(results), *tables.papers_table_1(), conclusions=said))
        said = findings.about_figure_3(results)
        parts.append(of_figure(figures.figure_3(results), conclusions=said, papers=paper.FIGURE_3))
    if {DUO, ONE_SEQUENCE} <= lanes:
        said = findings.against_the_best(results, DUO, paper.TABLE_2, "the dynamic number")
        parts.append(of_table(tables.table_2(results), tables.papers_table_2(), conclusions=said))
        said = findings.against_the_best(results, ONE_SEQUENCE, paper.TABLE_3, "the measured γ")
        parts.append(of_table(tables.table_3(results), tables.papers_table_3(), conclusions=said))
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
        table, said = tables.predictions(results), findings.about_predictions(results)
        parts.append(of_table(table, figure=figures.predicted(results), conclusions=said))
    if DUO in lanes:
        parts.append(of_figure(figures.pays(results)))
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
