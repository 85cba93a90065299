"""The Compare tab: two methods on one prompt, one after the other, then both on one clock."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter

import gradio as gr

from duoviz import runs
from duoviz.comparison import phis
from duoviz.decoding import METHODS
from duoviz.decoding.settings import Settings, check_flag
from duoviz.models import registry
from duoviz.recordings import PROMPT, STORY
from duoviz.runs import Lane
from duoviz.web.components import Race, recorded_race, title_of
from duoviz.web.limits import Limits
from duoviz.web.pages.fields import (
    Fields,
    as_integer,
    method_field,
    own_fields,
    raw_field,
    sampling_fields,
    settings_from,
    size_fields,
)
from duoviz.web.results_store import averages, in_words
from duoviz.web.session import Hardware
from duoviz.web.share import Page
from duoviz.web.visitors import AT_ONCE, WATCHED, Visitors
from duoviz.workers.tasks import MAX_REPEATS, Comparison

SIDES = {"first": "duodecoding", "second": "vanilla"}
# Of each, its recorded race against vanilla can be seen; the first is shown as the tab opens.
RECORDED = ("duodecoding", "duotree")
# So many that one disturbed round does not decide, and shows.
ROUNDS = 3
ABOUT = (
    "Each method runs alone, so neither slows the other. Then both runs are replayed side by side on one clock. "
    "*Equal cores* also runs the large model alone (vanilla) on the cores that it has in DuoDecoding (all for the "
    "prompt, then its share). That is nearly the paper's setting: on a processor DuoDecoding's target also gets the "
    "draft's core once the draft is done. *Larger model* runs the race twice: with the large model as it is, and in "
    "the next larger model's shape, which computes the same text at that model's cost."
)


def compare_page(hardware: Hardware) -> Page:
    """Lay out the tab inside the Blocks in force."""
    with gr.Row(elem_id="ask-race"):
        prompt = gr.Textbox(
            label="Prompt", value=PROMPT, lines=1, max_lines=3, container=False, scale=5, elem_id="compare-prompt"
        )
        sides = {
            side: method_field(method, f"{side.capitalize()} method", elem_id=f"{side}-method")
            for side, method in SIDES.items()
        }
        go = gr.Button("Race", variant="primary", size="md", elem_id="race", min_width=80)
        halt = gr.Button("Stop", size="md", elem_id="stop-race", min_width=80)
        fair = gr.Button("Equal cores", size="md", elem_id="race-like-for-like", min_width=120)
        larger = gr.Button("Larger model", size="md", elem_id="race-larger", min_width=130)
        with gr.Accordion("Race settings", open=False, elem_id="race-settings"):
            gr.Markdown(ABOUT)
            inputs = {"prompt": prompt} | comparison_fields(hardware.limits, sides)
            gr.Button("Close", elem_classes="close-drawer")
    races = [recorded_race(STORY, [method, SIDES["second"]]) for method in RECORDED]
    view = Race(elem_id="race-view", recorded=[race for race in races if race], measured=on_a_gpu())
    view.chosen(None, None, list(sides.values()), js="() => window.duoviz.recordedRace()", **AT_ONCE)
    inputs["like_for_like"] = gr.Checkbox(False, visible=False)
    connect(hardware, inputs, go=go, fair=fair, larger=larger, halt=halt, view=view)
    return Page({name: field for name, field in inputs.items() if name != "like_for_like"}, start=go)


def comparison_fields(limits: Limits, sides: Mapping[str, gr.Radio]) -> Fields:
    """Lay out what both sides share, and below it each side's own settings."""
    with gr.Row():
        fields = size_fields(limits, place="compare-")
        info = f"1 to {MAX_REPEATS}, taking turns in going first; speeds are of all rounds together"
        fields["repeats"] = gr.Number(ROUNDS, label="Rounds", info=info, elem_id="repeats")
    fields |= sampling_fields(place="compare-") | {"raw": raw_field(place="compare-")}
    with gr.Row():
        for side, method in sides.items():
            with gr.Column():
                gr.Markdown(f"**{side.capitalize()} method**")
                own = own_fields(limits, method, place=f"{side}-")
                fields |= {f"{side}_method": method} | {f"{side}_{name}": field for name, field in own.items()}
    return fields


def on_a_gpu() -> str:
    """What the Lab measured with a small target on a GPU; "" without results."""
    if not (found := averages("with-an-H100").get("DuoDecoding")):
        return ""
    return f"Measured on an H100 with a small target: DuoDecoding's speed-up over vanilla is {in_words(found)}."


def lanes_of(first: Settings, second: Settings, methods: Sequence[str], *, like_for_like: bool) -> list[Lane]:
    """Both sides, and the baselines of φ that neither of them is: vanilla at its best here, and on the
    target's cores where the race is like for like.
    """
    names = [title(*side) for side in zip(methods, (first, second), strict=True)]
    if names[0] == names[1]:
        names = [f"{name} ({side})" for side, name in zip(SIDES, names, strict=True)]
    sides = [Lane(*side) for side in zip(names, methods, (first, second), strict=True)]
    present = {lane.settings.cores for lane in sides if lane.method == "vanilla"}
    wanted = ("auto", "target") if like_for_like else ("auto",)
    missing = [replace(first, cores=cores) for cores in wanted if cores not in present]
    return sides + [Lane(title("vanilla", settings), "vanilla", settings) for settings in missing]


def title(method: str, settings: Settings) -> str:
    """What a side is called."""
    names = {"auto": "", "all": " on all cores", "target": " on DuoDecoding's target cores"}
    return title_of(method) + ("" if METHODS[method].parallel else names[settings.cores])


def asked(limits: Limits, *, prompt, pair, raw, repeats, like_for_like, **settings) -> Comparison:
    """The comparison that the page or a client asks for. Raises UserError."""
    check_flag("like_for_like", like_for_like)
    common = {name: value for name, value in settings.items() if name.partition("_")[0] not in SIDES}
    methods, sides = [], []
    for begin in map("{}_".format, SIDES):
        own = {name.removeprefix(begin): value for name, value in settings.items() if name.startswith(begin)}
        methods.append(own.pop("method"))
        runs.check_method(methods[-1])
        sides.append(settings_from(limits, **common, **own))
    lanes = lanes_of(sides[0], sides[1], methods, like_for_like=like_for_like)
    return Comparison(pair=pair, prompt=prompt, raw=raw, repeats=as_integer(repeats), lanes=lanes)


def connect(hardware: Hardware, inputs: Fields, *, go, fair, larger, halt, view) -> None:
    """Bind the buttons and the endpoint `compare` to comparisons on the hardware."""
    visitors, ask = Visitors(hardware), partial(asked, hardware.limits)

    def race(request: gr.Request, **sent) -> Iterator[str]:
        """Stream a comparison into the race view."""
        yield from visitors.watch(request, lambda: ask(**sent))

    def race_like_for_like(request: gr.Request, **sent) -> Iterator[str]:
        """The same, with both baselines of φ."""
        yield from race(request, **sent | {"like_for_like": True})

    def race_with_a_larger_target(request: gr.Request, **sent) -> Iterator[str]:
        """The race, and then the same in the target's next larger shape."""

        def first() -> Comparison:
            # A pair without a larger shape is refused before the first race.
            registry.larger((task := ask(**sent)).pair)
            return task

        done = yield from visitors.watch(request, first)
        if done and done.ended:
            smaller = {done.task.pair: phis(done.ended["result"])}
            again = replace(done.task, pair=registry.larger(done.task.pair), smaller=smaller)
            yield from visitors.watch(request, lambda: again)

    def compare(request: gr.Request, **sent) -> Iterator[dict | None]:
        """Stream a comparison to a client: both texts so far, and last what it came to."""
        yield from visitors.answer(request, lambda: ask(**sent), partial(add_texts, {}), itemgetter("result"))

    submit = inputs["prompt"].submit  # pyright: ignore[reportAttributeAccessIssue]
    gr.on([go.click, submit], race, None, view, inputs_kwargs=inputs, **WATCHED)  # pyright: ignore[reportArgumentType]
    larger.click(race_with_a_larger_target, None, view, inputs_kwargs=inputs, **WATCHED)
    fair.click(race_like_for_like, None, view, inputs_kwargs=inputs, **WATCHED)
    # Not queued, so that it reaches a run however many others wait.
    halt.click(visitors.stop, queue=False, api_name="stop_race", api_visibility="private")
    visitors.open("compare", compare, inputs, ask)


def add_texts(texts: dict[str, str], events: list[dict]) -> dict:
    """Add what these events say of the lanes' texts, for a client to be told; a lane's next round begins anew."""
    for lane, event in ((event["lane"], event["event"]) for event in events if event["type"] == "lane"):
        if event["type"] == "header":
            texts[lane] = ""
        elif event["type"] == "iteration":
            texts[lane] += runs.text_of([event["iteration"]])
    return {"texts": texts}
