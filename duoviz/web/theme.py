"""The page's look: system fonts, so that nothing is fetched from elsewhere."""

from pathlib import Path

import gradio as gr

SANS = ["ui-sans-serif", "system-ui", "sans-serif"]
MONO = ["ui-monospace", "Consolas", "monospace"]

THEME = gr.themes.Default(primary_hue="indigo", neutral_hue="slate", font=SANS, font_mono=MONO)

SHEETS = ("frame.css", "present.css")
CSS = "".join((Path(__file__).parent / name).read_text(encoding="utf-8") for name in SHEETS)
