"""What a request, a connection, an address and the log may cost: every bound of the page's server, and rates."""

from typing import Any

# Bytes of a request that is no file.
BODY = 2_500_000
# Values in a request, a list and an object counting for several (see `outside.Reader`).
VALUES = 2_000
# Characters of a prompt, of any other text, and of a name in a list; names in a list.
PROMPT, TEXT, NAME, NAMES = 2_100_000, 4_000, 200, 100
# Characters between two slashes of a path, as many as a file's name may have.
PATH_PART = 255

SCALAR = {"type": ["string", "number", "boolean", "null"], "maxLength": TEXT}
SMALL = {"$ref": "#/$defs/small"}
NESTED = {"anyOf": [SCALAR, {"type": "array", "items": SMALL}, {"type": "object", "additionalProperties": SMALL}]}
FROM_ELSEWHERE = "^[hH][tT][tT][pP][sS]?:"
# JSON Schema of an argument, by Gradio's name of the component that it is the value of; `calls` adds the choices.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "prompt": SCALAR | {"maxLength": PROMPT},
    "checkboxgroup": {
        "type": "array",
        "maxItems": NAMES,
        "uniqueItems": True,
        "items": {"type": "string", "maxLength": NAME},
    },
    **dict.fromkeys(("textbox", "number", "checkbox", "radio", "dropdown"), SCALAR),
    "uploadbutton": {
        "anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": SMALL}],
        # No file is fetched from elsewhere.
        "properties": {"path": {"type": "string", "maxLength": TEXT, "not": {"pattern": FROM_ELSEWHERE}}},
    },
}

# How many requests of an address are under way at once.
REQUESTS_OF_ADDRESS = 400
# What an address may have each second, and at once: enough for a class behind one address that opens the page and
# starts a run, and no more, for it takes time from the runs (20 ms for a page, 40 for a new session's call, 10 to read
# a megabyte). Of one's own machine, where a proxy's visitors may all come from, so many times as much.
RATES = {"page": (3, 64), "call": (2, 24), "file": (30, 4000), "byte": (4_000_000, 16_000_000)}
OWN = 5
# Refusals a second, of all addresses together.
REFUSALS = 50

# Events that were asked for and have not ended, or whose end nobody has fetched: of a session, of an address, of all.
EVENTS_OF_SESSION, EVENTS_OF_ADDRESS, EVENTS = 8, 96, 112
# Seconds for which a session with events waits for somebody who listens.
LISTENER = 5.0

# Each run in the queue holds one of Gradio's threads; so many more are left for all else on the page.
THREADS = 40
# What may wait for a thread.
WAITING = 64
# Sessions whose state Gradio keeps, 0.3 MB each; a session that comes back later is given a new one.
SESSIONS = 200
# The largest file that may be loaded, and how often (in seconds) files older than a day are removed.
LARGEST_FILE = "100mb"
TIDY_EVERY, KEEP_FOR = 3600, 86400

# Files that may be open (systems allow 1,024 unless they are asked), and of them those that are no connections.
OPEN_FILES, OTHER_FILES = 16_384, 300
# Connections of all, of which one peer has at most half.
CONNECTIONS = 2_000
# Seconds in which a connection brings a whole request, a file to be loaded, or takes more of an answer.
REQUEST, UPLOADING, ANSWER = 30.0, 600.0, 60.0
# Seconds between two looks for what nobody listens to, and at what a connection does.
LOOK = 1.0

# Characters of an entry of the log and of its traceback; entries at once, and seconds from one to the next after them.
LOGGED = 4_000
LOGGED_AT_ONCE, LOGGED_EVERY = 20, 10.0
# Keys whose turn has come long ago are forgotten when there are more than this.
MANY = 1000


class RateLimiter:
    """rate: times a second, for each key. burst: how many may come at once. longest: seconds that one waits at most."""

    def __init__(self, rate: float, burst: int = 1, longest: float = 30.0):
        self.step, self.burst, self.longest = 1 / rate, burst, longest
        # For each key when the next one would be due, had there been no burst.
        self.due: dict[str, float] = {}

    def delay(self, key: str, now: float, cost: float = 1) -> float | None:
        """Seconds until the next turn of this key, which is taken, or so many; None where that is too long."""
        due = max(self.due.get(key, now), now)
        delay = max(0.0, due - (self.burst - 1) * self.step - now)
        if delay > self.longest:
            return None
        self.due[key] = due + self.step * cost
        if len(self.due) > MANY:
            self.due = {name: time for name, time in self.due.items() if time > now}
        return delay
