"""The settings as fields of a page, and what the fields send as Settings."""

import json
from typing import Any

import gradio as gr
from gradio.components import Component

from duoviz.decoding import METHODS
from duoviz.decoding.settings import ABOUT, DEFAULTS, Settings, parsed
from duoviz.models.registry import EMBEDDED, PAIRS, first_pair
from duoviz.recordings import PROMPT
from duoviz.web.components import title_of
from duoviz.web.limits import Limits
from duoviz.web.visitors import AT_ONCE

# What the page begins with where it is not what the command line does.
ON_THE_PAGE = {"max_new_tokens": 128}
# Number fields' steps, where they are not 1.
STEPS = {"temperature": 0.1, "top_p": 0.05}
SAMPLING = ("temperature", "top_k", "top_p", "seed")
# A number that may be a word is chosen from a list up to here, and typed beyond.
LONGEST_LIST = 10
# Settings for experiments, which the command line alone has.
HIDDEN = {"budget_offset"}
# Prompts that the embedded pair's small target answers with sense, greedily, and the methods faster than vanilla.
PROMPTS = {
    "Explanation": PROMPT,
    "Story": "Write a bedtime story about a little fox.",
    "Summary": (
        "Summarize this text: The Great Wall of China is a series of walls built over many centuries to protect China "
        "from invasions. It is more than 20,000 kilometres long. Today, millions of people visit it every year."
    ),
    "Code": "Write a Python function that computes the factorial of n.",
    "List": "List five reasons to read books.",
    "Arithmetic": "Tom has 3 apples and buys 4 more. How many apples does he have now?",
}
SMALL_TARGET = "Even the large model here is small and often wrong. Watch how it writes, not what."
IN_A_SHAPE = (
    "Each pass takes what a larger model's takes: it reads and multiplies as many numbers. They compute the same as "
    "before, so the words are no better."
)

Fields = dict[str, Component]


def as_integer(value: Any) -> Any:
    """A number field may send 12.0 for 12."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def settings_from(limits: Limits, **sent) -> Settings:
    """Settings from what the page or a client sent. Raises UserError."""
    limits.check_settings(**sent)
    return Settings(**{name: as_integer(parsed(name, value)) for name, value in sent.items()})


def method_choices() -> list[tuple[str, str]]:
    """What each method is called, and the name that is sent for it."""
    titles = {name: title_of(name).removeprefix("the ") for name in METHODS}
    return [(title[0].upper() + title[1:], name) for name, title in titles.items()]


def method_field(method: str, label: str, **options: Any) -> gr.Radio:
    """All methods, of which this one is chosen."""
    about = METHODS[method].about
    return gr.Radio(method_choices(), value=method, label=label, info=about, elem_classes="methods", **options)


def setting_field(name: str, place: str = "") -> Component:
    """A setting as a field. place: begins the ids of this page's fields."""
    about = ABOUT[name]
    default: Any = ON_THE_PAGE.get(name, DEFAULTS[name])
    shared = {"label": about.label, "info": about.info or None, "elem_id": f"{place}{name.replace('_', '-')}"}
    if about.low is None or about.high is None:
        return gr.Dropdown(list(about.words), value=default, **shared) if about.words else gr.Textbox(default, **shared)
    if not about.words:
        return gr.Number(default, step=STEPS.get(name, 1), **shared)
    if about.high > LONGEST_LIST:
        shared["info"] = f"{about.info}; or {about.low} to {about.high}"
        return gr.Textbox(default, **shared)
    numbers = map(str, range(int(about.low), int(about.high) + 1))
    return gr.Dropdown([*about.words, *numbers], value=default, **shared)


def about_target(pair: object) -> str:
    """What is to be known of a pair's target; "" of most."""
    models = PAIRS.get(pair) if isinstance(pair, str) else None
    if models is None or models.target != EMBEDDED:
        return ""
    return IN_A_SHAPE if models.shape else SMALL_TARGET


def size_fields(limits: Limits, place: str = "") -> Fields:
    """How much is written, and by which models."""
    return {
        "max_new_tokens": setting_field("max_new_tokens", place),
        "pair": gr.Dropdown(
            list(PAIRS),
            value=first_pair(),
            label="Models",
            allow_custom_value=not limits.on_space,
            elem_id=f"{place}pair",
        ),
    }


def sampling_fields(place: str = "") -> Fields:
    """How the target draws its tokens, in a row."""
    with gr.Row():
        return {name: setting_field(name, place) for name in SAMPLING}


def prompts_to_try(prompt: gr.Textbox, pair: gr.Dropdown) -> None:
    """Lay out prompts to choose, and what the embedded pair's answers are not there for."""
    with gr.Row(elem_id="prompts"):
        texts = list(PROMPTS.values())
        tries = gr.Dataset(
            label="Try", components=[prompt], samples=[[text] for text in texts], sample_labels=list(PROMPTS),
            elem_id="examples",
        )  # fmt: skip
        about = gr.HTML(about_target(first_pair()), elem_id="small-target", apply_default_css=False, padding=False)

    # In the browser, where no press waits for the one before.
    tries.click(None, tries, prompt, js=f"(number) => {json.dumps(texts)}[number]", **AT_ONCE)

    def show_small(pair: str) -> dict:
        about = about_target(pair)
        return gr.update(visible=bool(about), value=about)

    pair.change(show_small, pair, about, **AT_ONCE)


def raw_field(place: str = "") -> gr.Checkbox:
    return gr.Checkbox(False, label="No chat template", info="continue the text as it is", elem_id=f"{place}raw")


def own_fields(limits: Limits, method: gr.Radio, place: str = "") -> Fields:
    """The methods' own settings; only those of the method chosen are shown, here and whenever another is chosen."""
    own = {name for method in METHODS.values() for name in method.settings} - HIDDEN
    if limits.on_space:
        own -= {"rest_datastore"}
    with gr.Row():
        fields = {name: setting_field(name, place) for name in DEFAULTS if name in own}
    for name, field in fields.items():
        field.visible = name in METHODS[method.value].settings

    def show(method: str) -> list:
        chosen = METHODS[method]
        return [gr.update(info=chosen.about), *(gr.update(visible=name in chosen.settings) for name in fields)]

    method.change(show, method, [method, *fields.values()], **AT_ONCE)
    return fields
