"""What another page shows of a link to this one: title, sentence, address and picture."""

from html import escape

from starlette.responses import FileResponse, Response
from starlette.routing import Route

from duoviz.folders import ASSETS
from duoviz.web.front import ADDRESS

TITLE = "duoviz: watch speculative decoding happen"
SENTENCE = (
    "A small model guesses the next words while a large one checks them. DuoDecoding, run for real and drawn live."
)
PICTURE = ASSETS / "iteration.png"
PICTURE_ADDRESS = f"{ADDRESS}/card.png"
# Where the page is, only the request tells; Gradio's template knows it.
ROOT = "{{ config['root'] }}"


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


def picture_route() -> Route:
    """What serves the picture."""

    def picture(_: object) -> Response:
        return FileResponse(PICTURE) if PICTURE.is_file() else Response(status_code=404)

    return Route(f"/{PICTURE_ADDRESS}", picture)
