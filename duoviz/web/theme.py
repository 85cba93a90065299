"""The page's look: system fonts, so that nothing is fetched from elsewhere."""

import gradio as gr

SANS = ["ui-sans-serif", "system-ui", "sans-serif"]
MONO = ["ui-monospace", "Consolas", "monospace"]

THEME = gr.themes.Default(primary_hue="indigo", neutral_hue="slate", font=SANS, font_mono=MONO)

CSS = """
/* Clipped and not hidden, so that what is sticky sticks to the window. */
.gradio-container { max-width: 1280px !important; margin-inline: auto !important; overflow: clip !important; }
#top { align-items: baseline; justify-content: space-between; }
#top > * { flex: 0 1 auto; width: auto; min-width: 0 !important; }
#title h1 { margin: 0; }
/* The prompt and what starts it side by side, as long as there is room. */
#ask { align-items: end; }
#examples { display: flex; align-items: center; gap: 12px; }
#examples .label { margin: 0; flex: none; }
#examples .gallery { flex-wrap: nowrap; overflow-x: auto; }
#examples .gallery-item { flex: none; }
#examples .label svg { display: none; }
#top .html-container { padding: 0; }
#ask-race { align-items: center; }
#ask-race { gap: 10px; }
#ask-race button { white-space: nowrap; padding-inline: 10px; }
"""
