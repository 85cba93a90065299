"""The page's look: letters of its own, so that nothing is fetched from elsewhere."""

from gradio.themes import Default

from duoviz.web.front import ADDRESS, FONT_FACE, nested, serve, style

SANS = ["Inter", "ui-sans-serif", "system-ui", "sans-serif"]
MONO = ["ui-monospace", "Consolas", "monospace"]

THEME = Default(primary_hue="indigo", neutral_hue="slate", font=SANS, font_mono=MONO).set(
    # What is written small, and on what is pressed, can be read (WCAG AA).
    body_text_color_subdued="*neutral_600",
    block_info_text_color="*neutral_600",
    # One accent.
    color_accent="*primary_600",
    button_primary_background_fill="*primary_600",
    button_primary_background_fill_hover="*primary_700",
)

CSS = FONT_FACE + style("frame") + style("ask") + style("present")
# A component's own style sheet would be read again with each of its values, and so all stand in one.
COMPONENTS = (
    nested("visualizer", "visualizer", "race", "learn")
    + nested("story", "visualizer")
    + nested("first_screen", "visualizer")
    + nested("race", "race")
    + nested("learn", "learn")
    + nested("game", "learn")
    + nested("results_view", "results")
    + nested("share", "share")
    + nested("forced", "visualizer", "race", "learn", "results")
)
# Before anything is drawn: frame.css says what depends on it.
FRAMED = 'document.documentElement.toggleAttribute("data-framed", window.parent !== window);'
# In pixels: what a share of the window's height is within what is zoomed, browsers do not agree on.
WINDOW = """
const measure = () => document.documentElement.style.setProperty("--window", `${innerHeight}px`);
measure();
addEventListener("resize", measure);
"""
SHEET = f"{ADDRESS}/{serve('components.css', COMPONENTS)}"
HEAD = f'<script>{FRAMED}{WINDOW}</script><link rel="stylesheet" href="{SHEET}">'
