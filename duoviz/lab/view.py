"""Results as the page shows them: plain data, which can be kept in a file."""

from collections.abc import Sequence

from duoviz.lab.overview import overview
from duoviz.lab.report import about_html, section_html
from duoviz.lab.results import Results
from duoviz.lab.sections import sections
from duoviz.lab.thumbnail import thumbnail


def first_view(results: Results) -> dict:
    """What is shown at once: a paragraph about the results, and their `overview`."""
    return {"about": about_html(results), "overview": overview(results)}


def parts_of(results: Results, beside: Sequence[Results] = ()) -> dict[str, dict]:
    """The report's sections by name, each to be opened: its title, a small picture, what stands above its figure and
    below, and the figure as plotly's JSON, None where there is none.
    """
    parts = {}
    for part in sections(results, beside):
        above, below = section_html(part, quick=results.plan["quick"])
        drawing = part.figure.drawing if part.figure else None
        parts[part.name] = {
            "title": part.title,
            "picture": thumbnail(drawing),
            "above": above,
            "below": below,
            "figure": drawing and drawing.to_json(),
        }
    return parts
