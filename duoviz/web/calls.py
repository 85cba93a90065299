"""What a call must look like to reach Gradio, which says nothing of most mistakes and breaks at some."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jsonschema_rs

from duoviz import outside
from duoviz.errors import UserError
from duoviz.outside import in_short
from duoviz.web import bounds
from duoviz.web.heads import Refused

API = "/gradio_api"
# The page's own calls name a function by number; those of an endpoint name it in the path.
NUMBERED = re.compile(rf"{API}/(queue/join|run/\w+)")
NAMED = re.compile(rf"{API}/call/(?P<v2>v2/)?(?P<name>[^/]+)")
# What ends an event.
ENDING = re.compile(rf"{API}/(cancel|reset)")
POSTED = re.compile("|".join(each.pattern for each in (NUMBERED, NAMED, ENDING)))
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


class Endpoint(NamedTuple):
    """A documented function. names: its arguments in order. check: raises UserError for arguments that are refused."""

    names: list[str]
    check: Callable[[dict], object]


class Page(NamedTuple):
    """What may be called. endpoints: by name. functions: by Gradio's number, each one's endpoint, or None, and the
    schema of a call's body."""

    endpoints: Mapping[str, Endpoint]
    functions: Mapping[int, tuple[Endpoint | None, Any]]


def page_of(demo: Any, endpoints: Mapping[str, Endpoint]) -> Page:
    """What may be called of a `gr.Blocks`. Raises KeyError for an argument of a kind that has no bounds."""
    functions = {}
    for number, fn in demo.fns.items():
        if fn.fn:
            inputs = [argument(component, checked=not fn.preprocess) for component in fn.inputs]
            data = {"type": "array", "minItems": len(inputs), "maxItems": len(inputs)}
            data |= {"prefixItems": inputs} if inputs else {}
            fields = {"data": data, "session_hash": SESSION, "fn_index": {"const": fn._id}}
            functions[number] = endpoints.get(fn.api_name), validator(fields, BESIDE)
    return Page(endpoints, functions)


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
    is_prompt = kind == "textbox" and (component.max_lines or 1) > 1
    return bounds.ARGUMENTS["prompt" if is_prompt else kind] | known


def read_post(path: str, content: bytes, page: Page) -> str | None:
    """The session that a call or the end of one names, None where it names none. Raises Refused."""
    asked, endpoint, sent = parsed(content), None, None
    if named := NAMED.fullmatch(path):
        if not (endpoint := page.endpoints.get(named["name"])):
            known = ", ".join(page.endpoints)
            raise Refused(404, f"There is no endpoint named {in_short(named['name'])}: use one of {known}.")
        # Its arguments are all that is sent, by their names, or listed in `data`.
        sent = asked
        if not named["v2"]:
            sent = asked.pop("data", None)
            check(LISTED, asked)
    elif NUMBERED.fullmatch(path):
        number = asked.get("fn_index")
        # True and 3.0 are equal to numbers of functions, and Gradio takes "03" for one.
        if type(number) is not int or number not in page.functions:
            raise Refused(400, NO_FUNCTION)
        endpoint, schema = page.functions[number]
        check(schema, asked)
        sent = asked["data"]
    else:
        check(ENDED, asked)
    if endpoint:
        check_arguments(endpoint, sent)
    return asked.get("session_hash")


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


def check_arguments(endpoint: Endpoint, sent: object) -> None:
    """Raise Refused for arguments, by name or listed, that the endpoint has not, or refuses."""
    names = endpoint.names
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
    try:
        endpoint.check(sent)
    except UserError as error:
        # In the form that Gradio's clients read.
        told = {"__type__": "validate", "is_valid": False, "parameter_name": "request", "message": str(error)}
        raise Refused(422, [told]) from None
    except (TypeError, AttributeError):
        pass  # A value of another kind is refused where the arguments are read.
