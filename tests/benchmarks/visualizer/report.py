"""The figures, as lines."""

from statistics import median

from playwright.sync_api import Page

LONG_TASK_MS = 50


class Report:
    """Prints figures, and remembers whether all are as wanted."""

    def __init__(self):
        self.good = True

    def line(self, what: str, figure: str, *, good: bool | None = None) -> None:
        self.good = self.good and good is not False
        print(f"  {what:58} {figure}{'' if good is None else '  as wanted' if good else '  NOT as wanted'}", flush=True)

    def times(self, what: str, milliseconds: list[float], *, p95: float | None = None) -> None:
        ordered = sorted(milliseconds)
        share = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        figures = f"p50 {median(ordered):6.1f}  p95 {share:6.1f}  max {ordered[-1]:6.1f} ms"
        self.line(f"{what} ({len(ordered)})", figures, good=None if p95 is None else share <= p95)

    def long_tasks(self, page: Page) -> None:
        tasks = page.evaluate("longTasks")
        longest = f", the longest {max(tasks):.0f} ms" if tasks else ""
        self.line(f"tasks over {LONG_TASK_MS} ms", f"{len(tasks)}{longest}", good=not tasks)
