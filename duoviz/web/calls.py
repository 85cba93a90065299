"""What a call must look like to reach Gradio, which says nothing of most mistakes and breaks at some."""

import json
import re
from collections.abc import Callable, Mapping, Set
from typing import Any, NamedTuple

import jsonschema_rs

from duoviz import outside
from duoviz.outside import in_short
from duoviz.web import bounds
from duoviz.web.heads import Client, Refused

API = "/gradio_api"
# The page's own calls name a function by number; those of an endpoint name it in the path.
NUMBERED = re.compile(rf"{API}/(queue/join|run/\w+)")
NAMED = re.compile(rf"{API}/call/(?P<v2>v2/)?(?P<name>[^/]+)")
# What else is posted: what a component's own function is asked, and what ends an event.
SERVER, ENDING = f"{API}/component_server", re.compile(rf"{API}/(cancel|reset)")
POSTED = re.compile("|".join(each.pattern for each in (NUMBERED, NAMED, ENDING)) + f"|{SERVER}")
NO_FUNCTION = "The page has no such function, or not with these arguments."


def validator(required: Mapping[str, object], optional: Mapping[str, object] = {}) -> Any:
    """What checks a body with these fields and no others, by their JSON Schemas."""
    schema = {"type": "object", "properties": {**required, **optional}, "required": [*required]}
    return jsonschema_rs.validator_for(schema | {"additionalProperties": False, "$defs": {"small": bounds.NESTED}})


# Gradio keys much by a session's name, and takes an empty one for none in some places and not in others.
SESSION = {"type": "string", "pattern": r"^[A-Za-z0-9_-]{1,100}\z"}
INTEGER = {"type": "integer", "minimum": 0, "maximum": 100_000}
# What a call may have besides its function and its arguments.
BESIDE = {"event_data": bounds.SMALL, "trigger_id": {"anyOf": [{"type": "null"}, INTEGER]}}
LISTED = validator({}, BESIDE | {"session_hash": SESSION})
ENDED = validator({}, {"session_hash": SESSION, "fn_index": INTEGER, "event_id": bounds.SCALAR})
ASKED = validator({"component_id": INTEGER, "fn_name": bounds.SCALAR, "session_hash": SESSION, "data": bounds.SMALL})


class Endpoint(NamedTuple):
    """An endpoint. names: its arguments in order. refusal: why these arguments, of this client, are refused."""

    names: list[str]
    refusal: Callable[[dict, Client], str | None]


class Function(NamedTuple):
    """A function of the page. endpoint: its name, where it is documented. schema: of a call's body.

    has_prompt: whether one of its arguments is a prompt.
    """

    endpoint: str | None
    schema: Any
    has_prompt: bool


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


def function_of(fn: Any, endpoints: Mapping[str, Endpoint]) -> Function:
    inputs = [argument(component, checked=not fn.preprocess) for component in fn.inputs]
    data = {"type": "array", "minItems": len(inputs), "maxItems": len(inputs)}
    data |= {"prefixItems": inputs} if inputs else {}
    fields = {"data": data, "session_hash": SESSION, "fn_index": {"const": fn._id}}
    name = fn.api_name if fn.api_name in endpoints else None
    return Function(name, validator(fields, BESIDE), any(map(is_prompt, fn.inputs)))


def is_prompt(component: Any) -> bool:
    return component.get_block_name() == "textbox" and (component.max_lines or 1) > 1


def argument(component: Any, *, checked: bool) -> dict:
    """JSON Schema of a component's value; checked: whether the function itself says what is no choice."""
    kind, choices = component.get_block_name(), [value for _, value in getattr(component, "choices", ())]
    if kind == "checkboxgroup":
        return bounds.ARGUMENTS[kind] | {"items": {"enum": choices}}
    if getattr(component, "multiselect", False):
        # Its choices change while the page is open.
        return bounds.ARGUMENTS["checkboxgroup"]
    free = checked or getattr(component, "allow_custom_value", False)
    known = {"enum": [None, *choices]} if choices and not free else {}
    return bounds.ARGUMENTS["prompt" if is_prompt(component) else kind] | known


def read_post(path: str, content: bytes, page: Page) -> Call | None:
    """The call in what was posted, None where it is none of a function. Raises Refused."""
    asked = parsed(content)
    if named := NAMED.fullmatch(path):
        return named_call(asked, named["name"], page, listed=not named["v2"])
    if NUMBERED.fullmatch(path):
        return numbered_call(asked, content, page)
    check_size(content)
    check(ASKED if path == SERVER else ENDED, asked)
    if path == SERVER and (asked["component_id"], asked["fn_name"]) not in page.servers:
        raise Refused(400, NO_FUNCTION)
    return None


def named_call(asked: dict, endpoint: str, page: Page, *, listed: bool) -> Call:
    """A call of an endpoint: its arguments by name, or listed in `data`. Raises Refused."""
    if endpoint not in page.endpoints:
        known = ", ".join(page.endpoints)
        raise Refused(404, f"There is no endpoint named {in_short(endpoint)}: use one of {known}.")
    names = page.endpoints[endpoint].names
    if not listed:
        return Call(None, endpoint, arguments(names, asked))
    check(LISTED, {name: value for name, value in asked.items() if name != "data"})
    return Call(asked.get("session_hash"), endpoint, arguments(names, asked.get("data")))


def numbered_call(asked: dict, content: bytes, page: Page) -> Call:
    """A call of the page's own. Raises Refused."""
    number = asked.get("fn_index")
    # True and 3.0 are equal to numbers of functions, and Gradio takes "03" for one.
    function = page.functions.get(number) if type(number) is int else None
    if function is None:
        raise Refused(400, NO_FUNCTION)
    if not function.has_prompt:
        check_size(content)
    check(function.schema, asked)
    sent = arguments(page.endpoints[function.endpoint].names, asked["data"]) if function.endpoint else {}
    return Call(asked["session_hash"], function.endpoint, sent)


def parsed(content: bytes) -> dict:
    """The JSON object in a request. Raises Refused, before it is parsed where that would cost much."""
    try:
        signs = outside.without_strings(content)[0].translate(None, outside.NO_SIGNS)
        outside.Reader(most_values=bounds.VALUES).check_structure(signs)
        asked = json.loads(content)
    except outside.Refused as error:
        raise Refused(400, f"The request {error}.") from None
    except (ValueError, RecursionError):
        raise Refused(400, "The request is not JSON.") from None
    if not isinstance(asked, dict):
        raise Refused(400, "A request is a JSON object.")
    return asked


def check(schema: Any, asked: dict) -> None:
    """Raise Refused unless a body is as its schema has it."""
    try:
        valid = schema.is_valid(asked)
    except UnicodeEncodeError:
        raise Refused(422, "The request contains an invalid character (an unpaired surrogate).") from None
    if not valid:
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
