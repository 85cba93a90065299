"""What a visitor's page sends, and the functions that it calls."""

from types import SimpleNamespace

from duoviz.web.app import build_app

SENT = {
    "max_new_tokens": 12.0, "temperature": 0, "top_k": 0, "top_p": 1, "seed": 0, "acceptance": "coupled",
    "sequences": "dynamic", "budget": "auto", "draft_mode": "batched", "cores": "all",
}  # fmt: skip


def functions(hardware):
    """The page's functions by name; of two with one name the Live tab's."""
    return {each.name: each.fn for each in reversed(build_app(hardware).fns.values())}


def visitor(name):
    return SimpleNamespace(session_hash=name, request=None)
