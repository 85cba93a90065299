"""What a browser reads of the page besides Gradio's own: scripts, letters, recorded runs, the card of a link."""

import hashlib
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from duoviz.decoding import METHODS
from duoviz.folders import ASSETS
from duoviz.lab.plan import look_of

HERE = Path(__file__).parent
SOURCES, STATIC, FONTS = HERE / "front", HERE / "static", HERE / "fonts"
# Under the page's own address: what is before it, only the browser knows.
ADDRESS = "scripts"
# Inter, of which the latin letters are served; whatever it lacks is written in the system's own.
(FONT,) = FONTS.glob("inter-*.woff2")
FONT_FACE = f"""
@font-face {{
  font-family: "Inter"; font-weight: 100 900; font-display: swap;
  src: url("{ADDRESS}/fonts/{FONT.name}") format("woff2");
}}
"""
MEDIA_TYPES = {"js": "text/javascript", "css": "text/css"}
# Of each entry its file, and those that it imports.
ENTRIES: dict[str, list[str]] = json.loads((STATIC / "entries.json").read_text(encoding="utf-8"))
# What is made here for the browser, by its file's name.
SERVED: dict[str, str] = {}
# The folders of recorded runs, by their addresses, which say nothing of where they lie.
PUBLISHED: dict[str, Path] = {}
# For files whose address is another one when they change: a browser asks for them once.
KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}

# What a page of another site shows this one in; ADDRESS is to be put in.
FRAME = (
    '<iframe src="ADDRESS" title="duoviz" width="100%" height="800" style="border: 0" '
    'allow="clipboard-write; fullscreen"></iframe>'
)
# What stands in the place of Gradio's own <gradio-app>, in whose page our scripts, styles and calls are another site's.
FRAME_INSTEAD = "duoviz works in a frame, not in <gradio-app>. Put this in your page instead:"

# A component's `js_on_load`. Values that come before its script are kept for it.
START = """
// Triggers: %s.
const embedded = element.closest("gradio-app:is([src], [space])");
if (embedded?.style.display === "none") return;
if (embedded) {
  const space = embedded.getAttribute("space")?.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const frame = document.createElement("code");
  frame.textContent = %s.replace("ADDRESS", embedded.getAttribute("src") ?? `https://${space}.hf.space/`);
  const told = document.createElement("p");
  told.append(%s, document.createElement("br"), frame);
  embedded.before(told);
  embedded.style.display = "none";
  return;
}
const early = [];
let take = (value) => early.push(value);
watch("value", () => { if (props.value) take(props.value); });
if (props.value) take(props.value);
const load = (file) => import(new URL(`%s/${file}`, document.baseURI));
Promise.all([load("%s"), load("%s")]).then(([{ start }, { default: methods }]) => {
  take = start({ element, props, trigger, methods });
  for (const value of early) take(value);
});
"""
# What another page shows of a link to this one.
TITLE = "duoviz: watch speculative decoding happen"
SENTENCE = (
    "A small model guesses the next words while a large one checks them. DuoDecoding, run for real and drawn live."
)
PICTURE = ASSETS / "iteration.png"
PICTURE_ADDRESS = f"{ADDRESS}/card.png"
# Where the page is, only the request tells; Gradio's template knows it.
ROOT = "{{ config['root'] }}"


def start(entry: str, triggers: Sequence[str]) -> str:
    """What a component runs as it comes on the page: its entry, with the methods that this version knows.

    triggers: events of its own that the entry triggers; Gradio knows them by their names in this text.
    """
    script, methods = ENTRIES[entry][0], serve_json("methods", methods_json())
    return START % (json.dumps(triggers), json.dumps(FRAME), json.dumps(FRAME_INSTEAD), ADDRESS, script, methods)


def style(name: str) -> str:
    """A style sheet."""
    return (SOURCES / "styles" / f"{name}.css").read_text(encoding="utf-8")


def nested(name: str, *components: str) -> str:
    """A style sheet for these components alone: as heavy as a rule for an id, and so above Gradio's own."""
    within = ", ".join(f".of-{component}" for component in components)
    return f":is(#above-gradio, {within}) {{\n{style(name)}}}\n"


def methods_json() -> str:
    """How each method is shown."""
    return as_text({name: method.described() | {"color": look_of(name).colour} for name, method in METHODS.items()})


def as_text(value: object) -> str:
    """JSON of which no markup, of a model's or a teacher's, is markup."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def serve(name: str, text: str) -> str:
    """Serve a file under this name and a part that changes with its text; returns the name."""
    stem, kind = name.split(".")
    file = f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.{kind}"
    SERVED[file] = text
    return file


def serve_json(name: str, text: str) -> str:
    """Let scripts import this JSON; returns the file's name."""
    return serve(f"{name}.js", f"export default {text};\n")


def publish(folder: Path) -> str:
    """The address, from that of the page, of a folder whose files anybody may read."""
    folder = folder.resolve()
    files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(folder.glob("*"))]
    address = f"recordings/{hashlib.sha256(repr((str(folder), files)).encode()).hexdigest()[:12]}"
    PUBLISHED[address] = folder
    return address


class Kept(StaticFiles):
    """A folder of files that a browser may keep."""

    def file_response(self, *args, **options) -> Response:
        response = super().file_response(*args, **options)
        response.headers.update(KEPT)
        return response


def routes() -> list[Mount]:
    """What serves all of this."""
    pictures = [Route("/card.png", lambda _: FileResponse(PICTURE))] if PICTURE.is_file() else []
    folders = [Mount("/fonts", Kept(directory=FONTS)), Mount("", Kept(directory=STATIC))]
    recordings = [Mount(f"/{address}", Kept(directory=folder)) for address, folder in PUBLISHED.items()]
    return [Mount(f"/{ADDRESS}", routes=[*map(route_of, SERVED), *pictures, *folders]), *recordings]


def route_of(file: str) -> Route:
    # What compresses an answer changes its headers: each is made anew.
    kind = MEDIA_TYPES[file.rpartition(".")[2]]
    return Route(f"/{file}", lambda _: Response(SERVED[file], media_type=kind, headers=KEPT))


def card() -> str:
    """The page's meta elements, for Gradio's template. An installed package has no picture."""
    said = {"title": TITLE, "description": SENTENCE}
    pictured = {"image": f"{ROOT}/{PICTURE_ADDRESS}"} if PICTURE.is_file() else {}
    graph = {"type": "website", "url": f"{ROOT}/"} | said | pictured
    twitter = {"card": "summary_large_image" if pictured else "summary"} | said | pictured
    elements = [("name", "description", SENTENCE)]
    elements += [("property", f"og:{name}", text) for name, text in graph.items()]
    elements += [("name", f"twitter:{name}", text) for name, text in twitter.items()]
    return "\n".join(f'<meta {kind}="{name}" content="{escape(text, quote=False)}" />' for kind, name, text in elements)
