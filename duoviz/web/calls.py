"""What a call must look like to reach Gradio, which says nothing of most mistakes and breaks at some."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, NamedTuple

import jsonschema_rs

from duoviz import outside
from duoviz.outside import in_short
from duoviz.web import bounds
from duoviz.web.clients import Client
from duoviz.web.heads import Refused

API = "/gradio_api"
# The page's own calls name a function by number; those of an endpoint name it in the path.
NUMBERED = re.compile(rf"{API}/(queue/join|run/\w+)")
NAMED = re.compile(rf"{API}/call/(?P<v2>v2/)?(?P<name>[^/]+)")
# Gradio keys much by a session's name, and takes an empty one for none in some places and not in others.
SESSION = {"type": "string", "pattern": r"^[A-Za-z0-9_-]{1,100}\z"}
# What may be posted besides calls of functions: what a component's own function is asked, and what ends an event.
SERVER, ENDINGS = f"{API}/component_server", (f"{API}/cancel", f"{API}/reset")
OTHERS = (SERVER, *ENDINGS)
INTEGER = {"type": "integer", "minimum": 0, "maximum": 100_000}
# What a call may have besides its function and its arguments.
BESIDE = {"event_data": bounds.SMALL, "trigger_id": {"anyOf": [{"type": "null"}, INTEGER]}}
NO_FUNCTION = "The page has no such function, or not with these arguments."


class Door(NamedTuple):
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


class Call(NamedTuple):
    """session: its name, None where the call has none. endpoint, sent: the arguments by name, where it is for one."""

    session: str | None
    endpoint: str | None = None
    sent: Mapping[str, object] = {}


def validator(required: Mapping[str, object], optional: Mapping[str, object] = {}) -> Any:
    """What checks a body with these fields and no others, by their schemas."""
    schema = {"type": "object", "properties": {**required, **optional}, "required": [*required]}
    return jsonschema_rs.validator_for(schema | {"additionalProperties": False, "$defs": {"small": bounds.NESTED}})


LISTED = validator({}, BESIDE | {"session_hash": SESSION})
ENDING = validator({}, {"session_hash": SESSION, "fn_index": INTEGER, "event_id": bounds.SCALAR})
ASKED = validator({"component_id": INTEGER, "fn_name": bounds.SCALAR, "session_hash": SESSION, "data": bounds.SMALL})


def functions_of(fns: Mapping[int, Any], endpoints: Iterable[str]) -> dict[int, Function]:
    """The page's functions by Gradio's number. Raises KeyError for an argument of a kind that has no bounds."""
    return {number: function_of(fn, endpoints) for number, fn in fns.items() if fn.fn}


def function_of(fn: Any, endpoints: Iterable[str]) -> Function:
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


def check(schema: Any, asked: dict) -> None:
    """Raise Refused for a body that is not as its schema has it; what is said of half a character is said elsewhere."""
    try:
        holds = schema.is_valid(asked)
    except UnicodeEncodeError:
        holds = schema.is_valid(json.loads(outside.SURROGATE.sub(rb"\\u00", json.dumps(asked).encode())))
    if not holds:
        raise Refused(400, NO_FUNCTION)


def is_call(path: str) -> bool:
    """Whether a function or an endpoint is called here."""
    return bool(NUMBERED.fullmatch(path) or NAMED.fullmatch(path))


def read_call(path: str, content: bytes, functions: Mapping[int, Function], doors: Mapping[str, Door]) -> Call:
    """The call in a request. Raises Refused."""
    asked = parsed(content)
    if named := NAMED.fullmatch(path):
        endpoint = named["name"]
        if endpoint not in doors:
            raise Refused(404, f"There is no endpoint named {in_short(endpoint)}: use one of {', '.join(doors)}.")
        if named["v2"]:
            return Call(None, endpoint, arguments(doors[endpoint].names, asked))
        check(LISTED, {name: value for name, value in asked.items() if name != "data"})
        return Call(asked.get("session_hash"), endpoint, arguments(doors[endpoint].names, asked.get("data")))
    number = asked.get("fn_index")
    # True and 3.0 are equal to numbers of functions, and Gradio takes "03" for one.
    function = functions.get(number) if type(number) is int else None
    if function is None:
        raise Refused(400, NO_FUNCTION)
    if not function.has_prompt:
        check_size(content)
    check(function.schema, asked)
    sent = arguments(doors[function.endpoint].names, asked["data"]) if function.endpoint else {}
    return Call(asked["session_hash"], function.endpoint, sent)


def check_other(path: str, content: bytes, servers: Set[tuple[int, str]]) -> None:
    """Raise Refused for what neither asks one of these components' functions nor ends an event."""
    check_size(content)
    asked = parsed(content)
    check(ASKED if path == SERVER else ENDING, asked)
    if path == SERVER and (asked["component_id"], asked["fn_name"]) not in servers:
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
