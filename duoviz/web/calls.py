"""What a client's call may look like: a mistake is told before Gradio takes the call, which would not say which."""

import re
from collections.abc import Sequence

import gradio as gr
from fastapi import Depends, FastAPI, HTTPException, Request

from duoviz.outside import in_short

# Gradio's two forms of a call: arguments by name, or a list of all. And the page's own.
CALL = re.compile(r"/gradio_api/call/(?P<named>v2/)?(?P<endpoint>[^/]+)/?")
JOIN = re.compile(r"/gradio_api/queue/join/?")


def endpoints(demo: gr.Blocks) -> dict[str, list[str]]:
    """The names of each endpoint's arguments, in order."""
    named = demo.get_api_info()["named_endpoints"]
    return {
        name.removeprefix("/"): [each["parameter_name"] for each in about["parameters"]]
        for name, about in named.items()
    }


def mistake(names: Sequence[str], sent: dict | list) -> str | None:
    """What is wrong with a call's arguments as such, in a sentence; their values are checked where they are used."""
    if isinstance(sent, dict):
        if unknown := [name for name in sent if name not in names]:
            return f"There is no argument named {in_short(unknown[0])}; there are: {', '.join(names)}."
    elif len(sent) != len(names):
        return f"There are {len(sent)} arguments in the list, and there must be {len(names)}: {', '.join(names)}."
    for name, value in sent.items() if isinstance(sent, dict) else zip(names, sent, strict=True):
        if isinstance(value, dict | list):
            return f"{name} must be a text, a number, true or false, not {in_short(value)}."
    return None


def names_an_address(sent: object) -> bool:
    """Whether a file that lies elsewhere is among the values: Gradio would fetch it, for any component."""
    waiting = [sent]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(path := value.get("path"), str) and path.lower().startswith(("http:", "https:")):
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


async def check_call(request: Request) -> None:
    """Raise HTTPException for a call of no endpoint, or with arguments that none takes."""
    path = request.scope["path"]
    if request.method != "POST":
        return
    if JOIN.fullmatch(path) and names_an_address(await body_of(request)):
        raise HTTPException(422, "A file must be sent here first: none is fetched from elsewhere.")
    if call := CALL.fullmatch(path):
        names = names_of(request.app, call["endpoint"])
        sent = await body_of(request)
        if not call["named"]:
            sent = sent.get("data") if isinstance(sent, dict) else None
        if isinstance(sent, dict if call["named"] else list) and (told := mistake(names, sent)):
            raise HTTPException(422, told)


async def body_of(request: Request) -> object:
    """The value of a request's JSON; None where it is none, or of another form, which FastAPI refuses."""
    try:
        return await request.json()
    except (ValueError, RecursionError):
        return None


def names_of(app: FastAPI, endpoint: str) -> list[str]:
    """The names of an endpoint's arguments. Raises HTTPException where there is none of this name."""
    if not hasattr(app.state, "endpoints"):
        app.state.endpoints = endpoints(app.get_blocks())
    if endpoint not in app.state.endpoints:
        told = f"There is no endpoint named {in_short(endpoint)}; there are: {', '.join(app.state.endpoints)}."
        raise HTTPException(404, told)
    return app.state.endpoints[endpoint]


# For `launch(app_kwargs=…)`.
CHECKED = {"dependencies": [Depends(check_call)]}
