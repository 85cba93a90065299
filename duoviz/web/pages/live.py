"""The Live tab: a prompt, the settings, and the run as it happens."""

from collections.abc import Iterator

import gradio as gr

from duoviz.decoding import METHODS
from duoviz.decoding.settings import MAX_BUDGET, MAX_SEQUENCES, Settings, parse_number
from duoviz.models.pairs import PAIRS
from duoviz.web.session import USER_ERRORS, Hardware, Run
from duoviz.web.visualizer import Visualizer, batch

EXAMPLES = [
    "Explain in simple words why the sky is blue.",
    "Write a Python function that returns the n-th Fibonacci number.",
    "List five ideas for a rainy afternoon with children.",
]

PLACE = {"concurrency_id": "hardware", "concurrency_limit": 1}


def settings_from(max_new_tokens, sequences, budget, draft_mode, cores) -> Settings:
    """Settings from what the page or a client sent. Raises SettingsError."""
    if isinstance(max_new_tokens, float) and max_new_tokens.is_integer():
        max_new_tokens = int(max_new_tokens)
    return Settings(
        max_new_tokens=max_new_tokens,
        sequences=parse_number("sequences", sequences, word="dynamic"),
        budget=parse_number("budget", budget, word="auto"),
        draft_mode=draft_mode,
        cores=cores,
    )


def live_page(hardware: Hardware) -> None:
    """Lay out the tab inside the Blocks in force."""
    runs: dict[str, Run] = {}

    def watch(
        prompt, method, max_new_tokens, sequences, budget, draft_mode, cores, pair, raw, request: gr.Request
    ) -> Iterator[str]:
        """Stream a run into the visualizer."""
        try:
            settings = settings_from(max_new_tokens, sequences, budget, draft_mode, cores)
            run = hardware.start(pair, method, prompt, settings, raw=raw)
        except USER_ERRORS as error:
            yield batch(Run().id, 0, [{"type": "error", "message": str(error)}])
            return
        runs[request.session_hash] = run
        try:
            for number, events in enumerate(run.batches(lambda: hardware.status)):
                yield batch(run.id, number, events)
        finally:
            run.stop.set()
            runs.pop(request.session_hash, None)

    def generate(prompt, method, max_new_tokens, sequences, budget, draft_mode, cores, pair, raw) -> Iterator[dict]:
        """Stream a run to a client: the text so far, and last what `--json` prints."""
        try:
            settings = settings_from(max_new_tokens, sequences, budget, draft_mode, cores)
            run = hardware.start(pair, method, prompt, settings, raw=raw)
        except USER_ERRORS as error:
            raise gr.Error(str(error)) from None
        text = ""
        try:
            for events in run.batches(lambda: hardware.status):
                for event in events:
                    if event["type"] == "iteration":
                        text += "".join(token["text"] for token in event["iteration"]["committed"])
                yield {"text": text}
            if run.error:
                raise gr.Error(run.error)
            yield run.summary
        finally:
            run.stop.set()

    def stop(request: gr.Request) -> None:
        """End this visitor's run; what it has produced stays on the page."""
        if run := runs.get(request.session_hash):
            run.stop.set()

    prompt = gr.Textbox(label="Prompt", value=EXAMPLES[0], lines=2, max_lines=8, elem_id="prompt")
    gr.Examples(EXAMPLES, inputs=prompt, label="Try one of these")
    with gr.Row():
        go = gr.Button("Generate", variant="primary", elem_id="generate")
        halt = gr.Button("Stop", variant="stop", elem_id="stop")
    with gr.Accordion("Settings", open=False):
        with gr.Row():
            method = gr.Dropdown(list(METHODS), value="duodecoding", label="Method")
            max_new_tokens = gr.Number(128, label="Most new tokens", precision=0, elem_id="max-new-tokens")
            sequences = gr.Dropdown(
                ["dynamic", *map(str, range(1, MAX_SEQUENCES + 1))],
                value="dynamic",
                label="Draft sequences k",
                info="dynamic: as many as the threshold θ says",
            )
            budget = gr.Textbox("auto", label="Draft budget γ", info=f"auto (measured), or 1 to {MAX_BUDGET}")
        with gr.Row():
            draft_mode = gr.Dropdown(
                ["batched", "paper"],
                value="batched",
                label="How sequences are drafted",
                info="batched: all together; paper: one after another",
            )
            cores = gr.Dropdown(
                ["all", "target"], value="all", label="Cores for vanilla", info="target: only the target's share"
            )
            pair = gr.Dropdown(list(PAIRS), value="embedded", label="Models", allow_custom_value=True)
            raw = gr.Checkbox(False, label="No chat template", info="continue the text as it is")
    visualizer = Visualizer(elem_id="visualizer")
    inputs = [prompt, method, max_new_tokens, sequences, budget, draft_mode, cores, pair, raw]
    gr.on(
        [go.click, prompt.submit], watch, inputs, visualizer, show_progress="hidden", api_visibility="private", **PLACE
    )
    halt.click(stop, queue=False, api_visibility="private")
    client, answer = gr.Button(visible=False), gr.JSON(visible=False)
    client.click(generate, inputs, answer, api_name="generate", **PLACE)
