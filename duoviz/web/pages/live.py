"""The Live tab: a prompt, the settings, and the run as it happens."""

import uuid
from collections.abc import Iterator

import gradio as gr

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import MAX_BUDGET, MAX_SEQUENCES, Settings, parse_number
from duoviz.models.pairs import PAIRS
from duoviz.web.limits import Limits
from duoviz.web.session import USER_ERRORS, Hardware, Run
from duoviz.web.visualizer import Visualizer, batch

EXAMPLES = [
    "Explain in simple words why the sky is blue.",
    "Write a Python function that returns the n-th Fibonacci number.",
    "List five ideas for a rainy afternoon with children.",
]


# Which methods a setting is for; all others are for every method.
METHODS_OF = {
    "acceptance": {"speculative", "duodecoding"},
    "sequences": {"duodecoding"},
    "budget": {"speculative", "duodecoding"},
    "draft_mode": {"duodecoding"},
    "cores": set(METHODS) - runner.PARALLEL_METHODS,
    **{name: {"prompt_lookup"} for name in ("lookup_ngram", "lookup_tokens", "lookup_occurrence")},
    **{name: {"rest"} for name in ("rest_longest", "rest_shortest", "rest_tokens", "rest_datastore")},
    **{name: {"lookahead"} for name in ("lookahead_window", "lookahead_ngram", "lookahead_guesses")},
}
DEFAULT = Settings()


def whole(value: object) -> object:
    """A number field may send 12.0 for 12."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def settings_from(limits: Limits, *, sequences, budget, rest_datastore="", **others) -> Settings:
    """Settings from what the page or a client sent. Raises SettingsError."""
    limits.check_tokens(others["max_new_tokens"])
    limits.check_datastore(rest_datastore)
    return Settings(
        sequences=parse_number("sequences", sequences, word="dynamic"),
        budget=parse_number("budget", budget, word="auto"),
        rest_datastore=rest_datastore,
        **{name: whole(value) for name, value in others.items()},
    )


def live_page(hardware: Hardware) -> None:
    """Lay out the tab inside the Blocks in force."""
    prompt = gr.Textbox(label="Prompt", value=EXAMPLES[0], lines=2, max_lines=8, elem_id="prompt")
    gr.Examples(EXAMPLES, inputs=prompt, label="Try one of these")
    with gr.Row():
        go = gr.Button("Generate", variant="primary", elem_id="generate")
        halt = gr.Button("Stop", variant="stop", elem_id="stop")
    with gr.Accordion("Settings", open=False):
        inputs = {"prompt": prompt} | settings_fields(hardware.limits)
    visualizer = Visualizer(elem_id="visualizer")
    client, answer = gr.Button(visible=False), gr.JSON(visible=False)
    connect(hardware, inputs, go=go, halt=halt, visualizer=visualizer, client=client, answer=answer)


def settings_fields(limits: Limits) -> dict[str, gr.components.Component]:
    """Lay out the settings; each field under its name on the command line."""
    fields = {}
    with gr.Row():
        fields["method"] = gr.Dropdown(list(METHODS), value="duodecoding", label="Method")
        fields["max_new_tokens"] = gr.Number(128, label="Most new tokens", elem_id="max-new-tokens")
        fields["pair"] = gr.Dropdown(
            list(PAIRS), value="embedded", label="Models", allow_custom_value=not limits.on_space
        )
    with gr.Row():
        fields["temperature"] = gr.Number(
            0, label="Temperature", info="0: always the most probable token", step=0.1, elem_id="temperature"
        )
        fields["top_k"] = gr.Number(0, label="Top-k", info="only the k most probable tokens; 0: all", elem_id="top-k")
        fields["top_p"] = gr.Number(
            1, label="Top-p", info="only the most probable, up to this share; 1: all", step=0.05, elem_id="top-p"
        )
        fields["seed"] = gr.Number(0, label="Seed", info="the same seed gives the same text", elem_id="seed")
        fields["acceptance"] = gr.Dropdown(
            ["coupled", "rejection"],
            value="coupled",
            label="Acceptance",
            info="coupled: the text is exactly what the target alone would draw; "
            "rejection: the classical rule, equal in distribution",
            scale=2,
        )
    with gr.Row():
        fields["sequences"] = gr.Dropdown(
            ["dynamic", *map(str, range(1, MAX_SEQUENCES + 1))],
            value="dynamic",
            label="Draft sequences k",
            info="dynamic: as many as the threshold θ says",
        )
        fields["budget"] = gr.Textbox("auto", label="Draft budget γ", info=f"auto (measured), or 1 to {MAX_BUDGET}")
        fields["draft_mode"] = gr.Dropdown(
            ["batched", "paper"],
            value="batched",
            label="How sequences are drafted",
            info="batched: all at once; paper: one by one",
        )
        fields["cores"] = gr.Dropdown(
            ["all", "target"], value="all", label="Cores", info="target: only those that DuoDecoding's target has"
        )
    with gr.Row():
        fields |= look_up_fields(limits)
    fields["raw"] = gr.Checkbox(False, label="No chat template", info="continue the text as it is")
    shown_with_method(fields)
    return fields


def look_up_fields(limits: Limits) -> dict[str, gr.components.Component]:
    """The settings of the methods that propose without a draft model."""
    fields = {}
    for name, label, info in (
        ("lookup_ngram", "Longest n-gram", "how much of the text's end is looked for in the text before it"),
        ("lookup_tokens", "Tokens proposed", "how many of the tokens after it"),
        ("rest_longest", "Longest suffix", "how much of the text's end is looked for in the datastore"),
        ("rest_shortest", "Shortest suffix", "nothing is proposed where not even this much is found"),
        ("rest_tokens", "Tokens proposed", "how many nodes the tree of continuations has at most"),
        ("lookahead_window", "Window W", "how many places ahead are guessed at once"),
        ("lookahead_ngram", "N-gram size N", "N − 1 rounds of guesses make one n-gram"),
        ("lookahead_guesses", "Guesses G", "how many n-grams are verified at once"),
    ):
        fields[name] = gr.Number(getattr(DEFAULT, name), label=label, info=info, elem_id=name.replace("_", "-"))
    fields["lookup_occurrence"] = gr.Dropdown(
        ["first", "latest"], value=DEFAULT.lookup_occurrence, label="Which occurrence", info="where it stands twice"
    )
    if not limits.on_space:
        fields["rest_datastore"] = gr.Textbox("", label="Datastore", info="a folder; empty: the one that comes along")
    return fields


def shown_with_method(fields: dict[str, gr.components.Component]) -> None:
    """Show a method's own settings with it, and no other method's."""
    own = {name: methods for name, methods in METHODS_OF.items() if name in fields}
    for name, methods in own.items():
        fields[name].visible = fields["method"].value in methods

    def show(method: str) -> list:
        return [gr.update(visible=method in methods) for methods in own.values()]

    fields["method"].change(
        show, fields["method"], [fields[name] for name in own], queue=False, show_progress="hidden",
        api_visibility="private",
    )  # fmt: skip


def connect(hardware: Hardware, inputs: dict, *, go, halt, visualizer, client, answer) -> None:
    """Bind the buttons and the endpoint `generate` to runs on the hardware, which keeps its own line."""
    runs: dict[str, Run] = {}
    unlimited = {"inputs_kwargs": inputs, "concurrency_limit": None}

    def start(prompt, method, pair, raw, **chosen) -> Run:
        return hardware.start(pair, method, prompt, settings_from(hardware.limits, **chosen), raw=raw)

    def watch(request: gr.Request, **sent) -> Iterator[str]:
        """Stream a run into the visualizer."""
        try:
            run = start(**sent)
        except USER_ERRORS as error:
            yield batch(uuid.uuid4().hex, 0, [{"type": "error", "message": str(error)}])
            return
        runs[request.session_hash] = run
        try:
            for number, events in enumerate(hardware.batches(run)):
                yield batch(run.id, number, events)
        finally:
            if runs.get(request.session_hash) is run:
                del runs[request.session_hash]

    def generate(**sent) -> Iterator[dict]:
        """Stream a run to a client: the text so far, and last what `--json` prints."""
        try:
            run = start(**sent)
        except USER_ERRORS as error:
            raise gr.Error(str(error), print_exception=False) from None
        text = ""
        for events in hardware.batches(run):
            for event in events:
                if event["type"] == "iteration":
                    text += "".join(token["text"] for token in event["iteration"]["committed"])
            yield {"text": text}
        if run.error:
            raise gr.Error(run.error, print_exception=False)
        yield run.summary

    def stop(request: gr.Request) -> None:
        """End this visitor's run; what it has produced stays on the page."""
        if run := runs.get(request.session_hash):
            run.stop.set()

    gr.on(
        [go.click, inputs["prompt"].submit],
        watch,
        None,
        visualizer,
        show_progress="hidden",
        api_visibility="private",
        **unlimited,
    )
    # Not queued, so that it reaches a run however many others wait.
    halt.click(stop, queue=False, api_visibility="private")
    client.click(generate, None, answer, api_name="generate", **unlimited)
