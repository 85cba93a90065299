"""What a call must look like to reach Gradio, which says nothing of most mistakes and breaks at some."""

import json
import re
from collections.abc import Callable, Mapping, Set
from typing import Any, NamedTuple

from duoviz import outside
from duoviz.outside import in_short
from duoviz.web import bounds
from duoviz.web.clients import Client
from duoviz.web.heads import Refused
from duoviz.web.schemas import ASKED, ENDED, LISTED, Function, function_of, holds

API = "/gradio_api"
# The page's own calls name a function by number; those of an endpoint name it in the path.
NUMBERED = re.compile(rf"{API}/(queue/join|run/\w+)")
NAMED = re.compile(rf"{API}/call/(?P<v2>v2/)?(?P<name>[^/]+)")
# What else is posted: what a component's own function is asked, and what ends an event.
SERVER, ENDING = f"{API}/component_server", re.compile(rf"{API}/(cancel|reset)")
POSTED = re.compile("|".join(each.pattern for each in (NUMBERED, NAMED, ENDING)) + f"|{SERVER}")
NO_FUNCTION = "The page has no such function, or not with these arguments."


class Endpoint(NamedTuple):
    """An endpoint. names: its arguments in order. refusal: why these arguments, of this client, are refused."""

    names: list[str]
    refusal: Callable[[dict, Client], str | None]


class Page(NamedTuple):
    """What may be called. endpoints: by name. functions: by Gradio's number.

    servers: the components that have functions of their own, as (number, function's name).
    """

    endpoints: Mapping[str, Endpoint]
    functions: Mapping[int, Function]
    servers: Set[tuple[int, str]]


class Call(NamedTuple):
    """session: its name, None where the call has none. endpoint, sent: the arguments by name, where it is for one."""

    session: str | None
    endpoint: str | None = None
    sent: Mapping[str, object] = {}


def page_of(demo: Any, endpoints: Mapping[str, Endpoint]) -> Page:
    """What may be called of a `gr.Blocks`. Raises KeyError for an argument of a kind that has no bounds."""
    functions = {number: function_of(fn, endpoints) for number, fn in demo.fns.items() if fn.fn}
    servers = {
        (number, fn.__name__) for number, block in demo.blocks.items() for fn in getattr(block, "server_fns", ())
    }
    return Page(endpoints, functions, servers)


def parsed(content: bytes) -> dict:
    """The JSON object in a request. Raises Refused, before it is parsed where that would cost much."""
    try:
        signs = outside.without_strings(content).translate(None, outside.NO_SIGNS)
        outside.Reader(most_values=bounds.VALUES).check_structure(signs)
        asked = json.loads(content)
    except outside.Refused as error:
        raise Refused(400, f"The request {error}.") from None
    except (ValueError, RecursionError):
        raise Refused(400, "The request is not JSON.") from None
    if not isinstance(asked, dict):
        raise Refused(400, "A request is a JSON object.")
    return asked


def read_post(path: str, content: bytes, page: Page) -> Call | None:
    """The call in what was posted, None where it is none of a function. Raises Refused."""
    asked = parsed(content)
    if named := NAMED.fullmatch(path):
        endpoint = named["name"]
        if endpoint not in page.endpoints:
            raise Refused(
                404, f"There is no endpoint named {in_short(endpoint)}: use one of {', '.join(page.endpoints)}."
            )
        names = page.endpoints[endpoint].names
        if named["v2"]:
            return Call(None, endpoint, arguments(names, asked))
        beside = {name: value for name, value in asked.items() if name != "data"}
        check(LISTED, beside, json.dumps(beside).encode())
        return Call(asked.get("session_hash"), endpoint, arguments(names, asked.get("data")))
    if not NUMBERED.fullmatch(path):
        check_size(content)
        check(ASKED if path == SERVER else ENDED, asked, content)
        if path == SERVER and (asked["component_id"], asked["fn_name"]) not in page.servers:
            raise Refused(400, NO_FUNCTION)
        return None
    number = asked.get("fn_index")
    # True and 3.0 are equal to numbers of functions, and Gradio takes "03" for one.
    function = page.functions.get(number) if type(number) is int else None
    if function is None:
        raise Refused(400, NO_FUNCTION)
    if not function.has_prompt:
        check_size(content)
    check(function.schema, asked, content)
    sent = arguments(page.endpoints[function.endpoint].names, asked["data"]) if function.endpoint else {}
    return Call(asked["session_hash"], function.endpoint, sent)


def check(schema: Any, asked: dict, content: bytes) -> None:
    if not holds(schema, asked, content):
        raise Refused(400, NO_FUNCTION)


def check_size(content: bytes) -> None:
    if len(content) > bounds.SMALL_BODY:
        raise Refused(413, f"This request may have at most {bounds.SMALL_BODY:,} bytes.")


def arguments(names: list[str], sent: object) -> dict[str, object]:
    """An endpoint's arguments by name; their values are checked where they are used. Raises Refused."""
    if not isinstance(sent, dict | list):
        raise Refused(422, f"A call has a list of {len(names)} arguments in `data`: {', '.join(names)}.")
    if isinstance(sent, list):
        if len(sent) != len(names):
            wanted = f"{len(names)}: {', '.join(names)}"
            raise Refused(422, f"There are {len(sent)} arguments in the list, and there must be {wanted}.")
        sent = dict(zip(names, sent, strict=True))
    for name, value in sent.items():
        if name not in names:
            raise Refused(422, f"There is no argument named {in_short(name)}: use one of {', '.join(names)}.")
        if isinstance(value, dict | list):
            raise Refused(422, f"{name} must be a text, a number, true or false, not {in_short(value)}.")
    return sent
