"""Results of the Lab as a Gradio component: `front/entries/results.js` fed by the component's value."""

from duoviz.web.front import as_text
from duoviz.web.scripted import Scripted


class ResultsView(Scripted):
    """Shows results of the Lab. Feed it `view_value(…)` strings."""

    def __init__(self, **options):
        super().__init__("results", ["opened"], root="ll-root", **options)


def view_value(overview: dict | None, parts: dict[str, dict] | None = None, opened: str | None = "") -> str:
    """One value of the component: an `overview`, the parts (see `lab.view`) that can be opened, and which one is;
    None: that which was."""
    row = parts and [{"name": name, "title": part["title"], "picture": part["picture"]} for name, part in parts.items()]
    return as_text({"overview": overview, "parts": row, "opened": opened})
