"""Reads trace files, and says in one sentence what is wrong with a bad one."""

from pathlib import Path
from sys import float_info

from duoviz.decoding import METHODS
from duoviz.outside import Reader, Refused
from duoviz.shape import FLAG, Check, all_of, fields, items, maybe, number, one_of, optional, string, whole
from duoviz.trace.schema import SCHEMA_VERSION

MAX_FILE_BYTES = 50_000_000
MAX_TEXT = 20_000
MAX_PROMPT = 2_000_000
MAX_NUMBER = 1e9


class TraceError(ValueError):
    """A file cannot be used as a trace; the message is a sentence for the user."""


def span(count: str) -> Check:
    times = fields(start=TIME, end=TIME, **{count: whole(0, MAX_NUMBER)})
    return all_of(times, lambda value: None if value["start"] <= value["end"] else ".end")


def parents_first(nodes: list[dict]) -> str | None:
    """No node may be its own ancestor."""
    return next((f"[{i}].parent" for i, node in enumerate(nodes) if node["parent"] >= i), None)


def in_order(iterations: list[dict]) -> str | None:
    syncs = [0, *(each["sync"] for each in iterations)]
    wrong = (i for i, each in enumerate(iterations) if each["index"] != i or each["sync"] < syncs[i])
    return next((f"[{i}]" for i in wrong), None)


TIME = number(0, MAX_NUMBER)
SHARE = number(0, 1.001)
GAP = number(0, float_info.max)
TEXT = string(MAX_TEXT)
ID = COUNT = whole(0, MAX_NUMBER)
STATUS = one_of({"pending", "accepted", "rejected", "discarded", "correction", "window"})
SOURCE = one_of({"draft", "prompt", "datastore", "lookahead", "target"})
MODEL = fields(name=TEXT, device=TEXT)
NODE = fields(
    id=ID, text=TEXT, parent=whole(-1, MAX_NUMBER), source=SOURCE, q=maybe(SHARE), count=maybe(whole(1, MAX_NUMBER)),
    p=maybe(SHARE), status=STATUS,
)  # fmt: skip
TREE = all_of(items(NODE, 10_000), parents_first)
HEADER = fields(
    schema=whole(1, SCHEMA_VERSION), method=one_of(set(METHODS)), target=MODEL, draft=maybe(MODEL), can_overlap=FLAG,
    settings=fields(max_new_tokens=whole(1, MAX_NUMBER)), prompt=string(MAX_PROMPT), prompt_tokens=COUNT,
)  # fmt: skip
ITERATION = fields(
    index=COUNT, mode=maybe(one_of({"prefill", "pre", "post"})), target=span("rows"),
    draft=items(span("tokens"), 10_000), sync=TIME,
    budget=maybe(whole(0, 10_000)), longest=optional(maybe(whole(0, 10_000))), theta=maybe(SHARE),
    sequences=maybe(whole(0, 64)),
    candidates=items(fields(id=ID, text=TEXT, p=SHARE, over=FLAG), 100),
    matched=optional(maybe(fields(tokens=whole(1, MAX_NUMBER), text=TEXT))), checked=TREE, drafted=TREE,
    verdict=fields(
        outcome=one_of({"hit", "miss", "rejection", "none"}), tested=COUNT, accepted=COUNT, sequence=maybe(whole(0, 64))
    ),
    committed=items(fields(id=ID, text=TEXT, source=SOURCE, gap=maybe(GAP)), 10_000),
)  # fmt: skip
TRACE = fields(
    header=HEADER,
    iterations=all_of(items(ITERATION, 200_000), in_order),
    end=maybe(fields(stopped=TEXT, message=optional(TEXT))),
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
        value = Reader(whole_texts=False).parse(text.encode("utf-8", "surrogatepass"))
    except Refused as error:
        raise TraceError(f"{name} is not a trace: it {error}.") from error
    if not isinstance(value, dict):
        raise TraceError(f"{name} is not a trace: it holds no JSON object.")
    header = value.get("header")
    schema = header.get("schema") if isinstance(header, dict) else None
    if whole(-1e300, 1e300)(schema) is None and schema != SCHEMA_VERSION:
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
