"""The settings as fields of a page, and what the fields send as Settings."""

import gradio as gr

from duoviz import runner
from duoviz.decoding import METHODS
from duoviz.decoding.settings import MAX_BUDGET, MAX_SEQUENCES, Settings, parse_number
from duoviz.models.pairs import PAIRS
from duoviz.recordings import PROMPT
from duoviz.web.limits import Limits

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
EXAMPLES = [
    PROMPT,
    "Write a Python function that returns the n-th Fibonacci number.",
    "List five ideas for a rainy afternoon with children.",
]

Fields = dict[str, gr.components.Component]


def whole(value: object) -> object:
    """A number field may send 12.0 for 12."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def settings_from(limits: Limits, *, sequences, budget, rest_datastore="", **others) -> Settings:
    """Settings from what the page or a client sent. Raises SettingsError."""
    limits.check_tokens(others["max_new_tokens"])
    limits.check_datastore(rest_datastore)
    return Settings(
        sequences=whole(parse_number("sequences", sequences, word="dynamic")),
        budget=whole(parse_number("budget", budget, word="auto")),
        rest_datastore=rest_datastore,
        **{name: whole(value) for name, value in others.items()},
    )


def method_field(method: str, label: str = "Method") -> gr.Dropdown:
    return gr.Dropdown(list(METHODS), value=method, label=label)


def size_fields(limits: Limits, place: str = "") -> Fields:
    """How much is written, and by which models. place: begins the ids of this page's fields."""
    return {
        "max_new_tokens": gr.Number(128, label="Max new tokens", elem_id=f"{place}max-new-tokens"),
        "pair": gr.Dropdown(list(PAIRS), value="embedded", label="Models", allow_custom_value=not limits.on_space),
    }


def sampling_fields(place: str = "") -> Fields:
    """How the target draws its tokens."""
    return {
        "temperature": gr.Number(
            0, label="Temperature", info="0: always the most probable token", step=0.1, elem_id=f"{place}temperature"
        ),
        "top_k": gr.Number(0, label="Top-k", info="the k most probable tokens; 0: all", elem_id=f"{place}top-k"),
        "top_p": gr.Number(
            1,
            label="Top-p",
            info="this share of the most probable; 1: all",
            step=0.05,
            elem_id=f"{place}top-p",
        ),
        "seed": gr.Number(0, label="Seed", info="the same seed gives the same text", elem_id=f"{place}seed"),
    }


def raw_field() -> gr.Checkbox:
    return gr.Checkbox(False, label="No chat template", info="continue the text as it is")


def own_fields(limits: Limits, method: gr.Dropdown, place: str = "") -> Fields:
    """The methods' own settings; only those of the method chosen are shown."""
    with gr.Row():
        fields = drafting_fields() | look_up_fields(limits, place)
    shown_with_method(method, fields)
    return fields


def drafting_fields() -> Fields:
    """The settings of the methods that propose with a draft model, and which cores the others get."""
    return {
        "acceptance": gr.Dropdown(
            ["coupled", "rejection"],
            value="coupled",
            label="Acceptance",
            info="coupled: the target's very text; rejection: the classical rule",
            scale=2,
        ),
        "sequences": gr.Dropdown(
            ["dynamic", *map(str, range(1, MAX_SEQUENCES + 1))],
            value="dynamic",
            label="Draft sequences k",
            info="dynamic: by the threshold θ",
        ),
        "budget": gr.Textbox("auto", label="Draft budget γ", info=f"auto (measured), or 1 to {MAX_BUDGET}"),
        "draft_mode": gr.Dropdown(
            ["batched", "paper"],
            value="batched",
            label="How sequences are drafted",
            info="batched: at once; paper: in turn",
        ),
        "cores": gr.Dropdown(
            ["all", "target"], value="all", label="Cores", info="target: only those that DuoDecoding's target has"
        ),
    }


def look_up_fields(limits: Limits, place: str) -> Fields:
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
        id_on_page = f"{place}{name.replace('_', '-')}"
        fields[name] = gr.Number(getattr(DEFAULT, name), label=label, info=info, elem_id=id_on_page)
    fields["lookup_occurrence"] = gr.Dropdown(
        ["first", "latest"], value=DEFAULT.lookup_occurrence, label="Which occurrence", info="where it stands twice"
    )
    if not limits.on_space:
        fields["rest_datastore"] = gr.Textbox("", label="Datastore", info="a folder; empty: the one that comes along")
    return fields


def shown_with_method(method: gr.Dropdown, fields: Fields) -> None:
    """Show a method's own settings with it, and no other method's."""
    own = {name: methods for name, methods in METHODS_OF.items() if name in fields}
    for name, methods in own.items():
        fields[name].visible = method.value in methods

    def show(method: str) -> list:
        return [gr.update(visible=method in methods) for methods in own.values()]

    method.change(
        show, method, [fields[name] for name in own], queue=False, show_progress="hidden", api_visibility="private"
    )
