"""Reads trace files, and says in one sentence what is wrong with a bad one."""

from collections.abc import Callable
from pathlib import Path

from duoviz.decoding import METHODS
from duoviz.outside import Reader, Refused
from duoviz.shape import FLAG, Check, all_of, fields, integer, items, maybe, number, one_of, optional, string
from duoviz.trace.fields import A_TOKEN, END, HEADER, ITERATION, MAX_ITERATIONS, MAX_WRITTEN
from duoviz.trace.schema import SCHEMA_VERSION

MAX_FILE_BYTES = 50_000_000


class TraceError(ValueError):
    """A file cannot be used as a trace; the message is a sentence for the user."""


def ordered(value: dict) -> str | None:
    """A stretch of time does not end before it starts."""
    return None if value["start"] <= value["end"] else ".end"


def parents_first(nodes: list[dict]) -> str | None:
    """No node may be its own ancestor."""
    return next((f"[{i}].parent" for i, node in enumerate(nodes) if node["parent"] >= i), None)


def in_order(iterations: list[dict]) -> str | None:
    """Their numbers and times go on, and their text is not too long."""
    sync = written = 0
    for i, iteration in enumerate(iterations):
        written += sum(A_TOKEN + len(token["text"]) for token in iteration["committed"])
        if iteration["index"] != i or iteration["sync"] < sync or written > MAX_WRITTEN:
            return f"[{i}]"
        sync = iteration["sync"]
    return None


def rest_below(iteration: dict) -> str | None:
    """The parents of what is left of a tree come before it: checked nodes, or its own."""
    nodes = [*iteration["checked"], *iteration.get("rest", [])]
    wrong = (i for i, node in enumerate(nodes) if node["parent"] >= i)
    return next((f".rest[{i - len(iteration['checked'])}].parent" for i in wrong), None)


RULES = {"ordered": ordered, "parents first": parents_first, "rest below": rest_below}
KINDS: dict[str, Callable[..., Check]] = {
    "whole": integer,
    "number": number,
    "text": string,
    "flag": lambda: FLAG,
    "one of": lambda *words: one_of(words),
    "list": lambda description, most: items(check_of(description), most),
    "object": lambda named: fields(**{name: check_of(description) for name, description in named.items()}),
    "or null": lambda description: maybe(check_of(description)),
    "or absent": lambda description: optional(check_of(description)),
    "rule": lambda name, description: all_of(check_of(description), RULES[name]),
}


def check_of(description: list) -> Check:
    """The check that a description means (see `duoviz.trace.fields`)."""
    kind, *rest = description
    return KINDS[kind](*rest)


def method_known(header: dict) -> str | None:
    """A method that this version does not know must say itself how it is shown."""
    return None if "about" in header or header["method"] in METHODS else ".method"


TRACE = fields(
    header=all_of(check_of(HEADER), method_known),
    iterations=all_of(check_of(["list", ITERATION, MAX_ITERATIONS]), in_order),
    end=check_of(END),
)


def read_text(path: Path) -> str:
    """A trace file's text. Raises TraceError."""
    try:
        if not path.is_file():
            raise TraceError(f"There is no file {path}.")
        if (size := path.stat().st_size) > MAX_FILE_BYTES:
            most = MAX_FILE_BYTES // 1_000_000
            raise TraceError(f"{path} has {-(-size // 1_000_000)} MB, and a trace may have at most {most} MB.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise TraceError(f"{path} cannot be read: it is no text file that you may open.") from error


def parse_trace(text: str, name: object) -> dict:
    """The trace that a file's text holds; name: what to call the file. Raises TraceError."""
    try:
        # Exports replace half a character as they write it.
        value = Reader(refuse_surrogates=False).parse(text.encode("utf-8", "surrogatepass"))
    except Refused as error:
        raise TraceError(f"{name} is not a trace: it {error}.") from error
    if not isinstance(value, dict):
        raise TraceError(f"{name} is not a trace: it holds no JSON object.")
    header = value.get("header")
    schema = header.get("schema") if isinstance(header, dict) else None
    if schema is not None and integer(-1e300, 1e300)(schema) is None and schema != SCHEMA_VERSION:
        remedy = ": it needs a newer duoviz" if schema > SCHEMA_VERSION else ""
        raise TraceError(f"{name} has schema {schema:g}, and this duoviz reads schema {SCHEMA_VERSION}{remedy}.")
    if (wrong := TRACE(value)) is not None:
        raise TraceError(f'{name} is not a trace: "{wrong[1:]}" is missing or not as it should be.')
    if not value["iterations"]:
        raise TraceError(f"{name} has no iterations, so there is nothing to show.")
    return value


def read_trace(path: Path) -> dict:
    """The trace in a file. Raises TraceError."""
    return parse_trace(read_text(path), path)
