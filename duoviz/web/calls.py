"""What a call must look like to reach Gradio, which says nothing of most mistakes and breaks at some."""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from duoviz.outside import in_short
from duoviz.web.clients import Client

API = "/gradio_api"
# The page's own calls name a function by number; those of an endpoint name it in the path.
NUMBERED = re.compile(rf"{API}/(queue/join|run/\w+)")
NAMED = re.compile(rf"{API}/call/(?P<v2>v2/)?(?P<name>[^/]+)")
# All that the page sends besides `data` and `fn_index`, and the kinds of values.
FIELDS = {"session_hash": str, "event_data": object, "trigger_id": int | None}
# Gradio keys much by a session's name, and takes an empty one for none in some places and not in others.
SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")

# In JSON as Python writes it; a quotation mark within a text has a backslash before it.
FROM_ELSEWHERE = re.compile(r'"path": "(?i:https?:)')


class Refused(Exception):
    """An answer that ends a request: its status and what it says."""

    def __init__(self, status: int, detail: object):
        self.status, self.detail = status, detail


class Door(NamedTuple):
    """An endpoint. names: its arguments in order. refusal: why these arguments, of this client, are refused."""

    names: list[str]
    refusal: Callable[[dict, Client], str | None]


class Function(NamedTuple):
    """A function of the page. endpoint: its name, where it is documented. inputs: how many values it takes."""

    endpoint: str | None
    inputs: int


class Call(NamedTuple):
    """session: its name, None where the call has none. endpoint, sent: the arguments by name, where it is for one."""

    session: str | None
    endpoint: str | None = None
    sent: Mapping[str, object] = {}


def parsed(content: bytes) -> dict:
    """The JSON object in a request. Raises Refused, also where Gradio would fetch a file from elsewhere for it."""
    try:
        asked = json.loads(content)
        elsewhere = FROM_ELSEWHERE.search(json.dumps(asked))
    except (ValueError, RecursionError):
        raise Refused(400, "The request is not JSON, or is nested too deeply.") from None
    if elsewhere:
        raise Refused(422, "Upload the file first: no file is fetched from elsewhere.")
    if not isinstance(asked, dict):
        raise Refused(400, "A request is a JSON object.")
    return asked


def read_call(path: str, asked: dict, functions: Mapping[int, Function], doors: Mapping[str, Door]) -> Call:
    """The call in a request. Raises Refused."""
    if named := NAMED.fullmatch(path):
        endpoint = named["name"]
        if endpoint not in doors:
            raise Refused(404, f"There is no endpoint named {in_short(endpoint)}: use one of {', '.join(doors)}.")
        if named["v2"]:
            return Call(None, endpoint, arguments(doors[endpoint].names, asked))
        session = asked.get("session_hash")
        return Call(session and session_of(asked), endpoint, arguments(doors[endpoint].names, asked.get("data")))
    number, data = asked.get("fn_index"), asked.get("data")
    # True and 3.0 are equal to numbers of functions, and Gradio takes "03" for one.
    function = functions.get(number) if type(number) is int else None
    fields = {name: value for name, value in asked.items() if name not in ("fn_index", "data")}
    if function is None or not all(name in FIELDS and isinstance(fields[name], FIELDS[name]) for name in fields):
        raise Refused(400, "The page has no such function, or not with these arguments.")
    session = session_of(asked)
    if function.endpoint:
        return Call(session, function.endpoint, arguments(doors[function.endpoint].names, data))
    if not isinstance(data, list) or len(data) != function.inputs:
        raise Refused(400, f"This function takes a list of {function.inputs} values.")
    return Call(session)


def session_of(asked: dict) -> str:
    """The session that a request names. Raises Refused."""
    session = asked.get("session_hash")
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        raise Refused(400, "A session's name has 1 to 100 letters, digits, - and _.")
    return session


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
