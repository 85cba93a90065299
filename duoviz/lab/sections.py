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
    parts = []
    if beside:
        table = tables.compared([results, *beside])
        parts.append(Section(table.name, table.title, [table]))
    if VANILLA in lanes:
        parts += [table_1(results), figure_3(results)]
    if {DUO, ONE_SEQUENCE} <= lanes:
        parts += [table_2(results), table_3(results)]
    if DUO in lanes:
        parts += [table_4(results), figure_5(results)]
    if results.forwards:
        parts.append(figure_1(results))
    if lanes:
        parts += [figure_4(results), time(results), cost_model(results)]
    if DUO in lanes:
        parts.append(pays(results))
    if lanes or results.failed:
        parts.append(checks(results))
    table = tables.environments([results, *beside])
    return [*parts, Section(table.name, table.title, [table])]


def table_section(table: Table, papers: Sequence[Table], **others) -> Section:
    return Section(table.name, table.title, [table, *papers], papers=paper.CONDITIONS if papers else "", **others)


def figure_section(figure: Figure, **others) -> Section:
    return Section(figure.name, figure.title, figure=figure, **others)


def table_1(results: Results) -> Section:
    said = findings.about_table_1(results)
    return table_section(tables.table_1(results), tables.papers_table_1(), conclusions=said)


def table_2(results: Results) -> Section:
    said = findings.about_table_2(results)
    return table_section(tables.table_2(results), [tables.papers_table_2()], conclusions=said)


def table_3(results: Results) -> Section:
    said = findings.about_table_3(results)
    return table_section(tables.table_3(results), [tables.papers_table_3()], conclusions=said)


def table_4(results: Results) -> Section:
    table = tables.table_4(results)
    facts = findings.about_table_4(results) + findings.about_drafting(results)
    return Section(table.name, table.title, [table], facts=facts, papers=paper.NO_VALUES)


def figure_1(results: Results) -> Section:
    facts = findings.about_figure_1(results)
    return figure_section(figures.figure_1(results), facts=facts, papers=paper.FIGURE_1)


def figure_3(results: Results) -> Section:
    said = findings.about_figure_3(results)
    return figure_section(figures.figure_3(results), conclusions=said, papers=paper.FIGURE_3)


def figure_4(results: Results) -> Section:
    return figure_section(figures.figure_4(results), papers=paper.NO_VALUES)


def figure_5(results: Results) -> Section:
    return figure_section(figures.figure_5(results), papers=paper.FIGURE_5)


def time(results: Results) -> Section:
    return figure_section(figures.time_split(results), facts=findings.about_time(results))


def cost_model(results: Results) -> Section:
    table, figure = tables.predictions(results), figures.predicted(results)
    return Section(table.name, table.title, [table], figure, conclusions=findings.about_predictions(results))


def pays(results: Results) -> Section:
    return figure_section(figures.pays(results))


def checks(results: Results) -> Section:
    table = tables.checks(results)
    listed = [tables.failures(results)] if results.failed else []
    return Section(table.name, table.title, [table, *listed], facts=findings.about_checks(results))
