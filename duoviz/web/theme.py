"""The page's look: system fonts, so that nothing is fetched from elsewhere."""

import gradio as gr

SANS = ["ui-sans-serif", "system-ui", "sans-serif"]
MONO = ["ui-monospace", "Consolas", "monospace"]

THEME = gr.themes.Default(primary_hue="indigo", neutral_hue="slate", font=SANS, font_mono=MONO)

CSS = """
.gradio-container { max-width: 1280px !important; }
#intro h1 { margin-bottom: 0.2em; }
"""
