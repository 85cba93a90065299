"""What the bodies of calls must look like, as JSON Schema made from the page's own functions."""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import jsonschema_rs

from duoviz import outside
from duoviz.web import bounds

# Gradio keys much by a session's name, and takes an empty one for none in some places and not in others.
SESSION = {"type": "string", "pattern": r"^[A-Za-z0-9_-]{1,100}\z"}
INTEGER = {"type": "integer", "minimum": 0, "maximum": 100_000}
# What a call may have besides its function and its arguments.
BESIDE = {"event_data": bounds.SMALL, "trigger_id": {"anyOf": [{"type": "null"}, INTEGER]}}


class Function(NamedTuple):
    """A function of the page. endpoint: its name, where it is documented. schema: of a call's body.

    has_prompt: whether one of its arguments is a prompt.
    """

    endpoint: str | None
    schema: Any
    has_prompt: bool


def validator(required: Mapping[str, object], optional: Mapping[str, object] = {}) -> Any:
    """What checks a body with these fields and no others, by their schemas."""
    schema = {"type": "object", "properties": {**required, **optional}, "required": [*required]}
    return jsonschema_rs.validator_for(schema | {"additionalProperties": False, "$defs": {"small": bounds.NESTED}})


LISTED = validator({}, BESIDE | {"session_hash": SESSION})
ENDED = validator({}, {"session_hash": SESSION, "fn_index": INTEGER, "event_id": bounds.SCALAR})
ASKED = validator({"component_id": INTEGER, "fn_name": bounds.SCALAR, "session_hash": SESSION, "data": bounds.SMALL})


def function_of(fn: Any, endpoints: Collection[str]) -> Function:
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


def holds(schema: Any, asked: dict, content: bytes) -> bool:
    """Whether a body, parsed and as it came, is as its schema has it; of half a character its reader says more."""
    try:
        return schema.is_valid(asked)
    except UnicodeEncodeError:
        return schema.is_valid(json.loads(outside.SURROGATE.sub(rb"\\u00", content)))
