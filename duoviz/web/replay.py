"""A run as one HTML file that needs neither a server nor a network."""

import base64
import gzip
import hashlib
import json
from functools import cache

from duoviz.web.front import STATIC, methods_json, style

# The page's colours, which Gradio gives the visualizer elsewhere.
PAGE_CSS = """
:root { color-scheme: light dark; --body-text-color: #1f2937; --background-fill-secondary: #f9fafb; --page: #ffffff; }
.dark { --body-text-color: #f1f5f9; --background-fill-secondary: #1e293b; --border-color-primary: #334155;
  --color-accent: #64748b; --page: #0f172a; }
body { margin: 0 auto; padding: 16px; max-width: 1248px; font-family: ui-sans-serif, system-ui, sans-serif;
  color: var(--body-text-color); background: var(--page); }
h1 { margin: 0 0 4px; font-size: 24px; }
.about { margin: 0 0 16px; max-width: 80ch; font-size: 15px; line-height: 1.5; }
"""

# All that may run is the script below, and nothing may be fetched.
POLICY = (
    "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)

ABOUT = """<h1>duoviz: a recorded run</h1>
<p class="about">This file replays, step by step, how a language model wrote a text: with the measured times, where they
are known. In all methods but vanilla, something cheaper (such as a small draft model) guessed tokens ahead, and the
large target model checked several guesses at once. The guesses change only the speed. Press play, or use the arrow
keys.</p>
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>duoviz: a recorded run</title>
<style>{css}</style>
</head>
<body>
{about}<div class="dv-root"></div>
<script type="application/json" id="methods">{methods}</script>
<script type="application/json" id="trace">{trace}</script>
<script>{script}</script>
</body>
</html>
"""


@cache
def replay_parts() -> tuple[str, str]:
    """What stands before and after the trace's JSON in the file; the page puts the same parts together."""
    code = (STATIC / "replay.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    before, after = PAGE.split("{trace}")
    # The visualizer's rules are written to be nested.
    css = f"{PAGE_CSS}body {{\n{style('visualizer')}}}\n"
    head = before.format(policy=POLICY.format(digest=digest), css=css, about=ABOUT, methods=methods_json())
    return head, after.format(script=code)


def replay_page(trace_json: str) -> str:
    """The file for a trace's JSON, which must be valid: its markup stays text."""
    before, after = replay_parts()
    return before + trace_json.replace("<", "\\u003c") + after


# Bytes of a frame, which a notebook keeps with it; nothing of ours can measure there how high it should be.
MOST_IN_A_FRAME = 500_000
FRAME = (
    "<iframe sandbox='allow-scripts allow-downloads' title='A recorded run' "
    "style='width: 100%; height: 760px; border: 0; resize: vertical' srcdoc='{page}'></iframe>"
)
TOO_LONG = "<p>This run is too long to be replayed in a notebook: save it with <code>run.save('run.html')</code>.</p>"


def replay_frame(trace_json: str) -> str:
    """The file in a frame of its own, for a notebook's output: its script reaches nothing outside of it."""
    packed = base64.b64encode(gzip.compress(trace_json.encode("utf-8", "replace"), mtime=0)).decode()
    page = replay_page(json.dumps(packed)).replace(ABOUT, "").replace("&", "&amp;").replace("'", "&#39;")
    return FRAME.format(page=page) if len(page.encode()) <= MOST_IN_A_FRAME else TOO_LONG
