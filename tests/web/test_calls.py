"""Calls of a real server: every mistake in an argument is told in a sentence, to page and clients alike."""

import json
from math import inf, nan

import pytest

from duoviz.decoding import METHODS
from duoviz.web import bounds
from tests.web.served import served

SHORT = {"prompt": "hello", "max_new_tokens": 3}
HUGE = 10**400
FILE = {"meta": {"_type": "gradio.FileData"}}


@pytest.fixture(scope="module")
def page(shared_hardware):
    """The page on a tiny pair, which takes as many calls as come."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "RATES", dict.fromkeys(bounds.RATES, (1e9, 1e9)))
        patch.setattr(bounds, "REFUSALS", 1e9)
        with served(shared_hardware) as page:
            yield page


def post(page, path, body):
    """What a call comes to: ("complete", its value), or ("error" or the status, the sentence)."""
    status, _, text = page.ask("POST", f"/gradio_api/{path}", body)
    told = json.loads(text)
    if status != 200:
        # In whichever of Gradio's forms.
        detail = told["detail"]
        return status, detail if isinstance(detail, str) else detail[0].get("message") or detail[0]["msg"]
    stream = page.ask("GET", f"/gradio_api/{path}/{told['event_id']}")[2].decode()
    name, data = stream.strip().split("\n\n")[-1].split("\n")
    name, value = name.removeprefix("event: "), json.loads(data.removeprefix("data: "))
    return name, value[0] if name == "complete" else value["error"]


def about(value):
    """How a sentence on a setting goes on about a value."""
    if value is None:
        return "."
    return ", not " + ("a number of more than 60 digits." if value in (HUGE, 1e300) else f"{value!r}."[:20])


TEMPERATURE = "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0"
BUDGET = "Draft budget γ (budget): enter auto or a whole number from 1 to 64"
RAW = "raw: enter true or false"
SETTINGS = {
    "temperature": (TEMPERATURE, [5e-324, HUGE, "0.5", False, None, nan]),
    "top_p": ("Top-p (top_p): enter a number from 0.01 to 1", [inf]),
    "seed": ("Seed: enter a whole number from 0 to 9007199254740991", [HUGE, 1e300, True]),
    "budget": (BUDGET, [True, "1_0", "9" * 5000]),
    "acceptance": ("Acceptance: enter coupled or rejection", ["x"]),
    "raw": (RAW, ["x", 0]),
    "rest_datastore": ("Datastore (rest_datastore): enter the name of a folder", ["\ud800", 5]),
}
COMPARED = {
    "like_for_like": ("like_for_like: enter true or false", ["x", None]),
    "repeats": ("Rounds (repeats): enter a whole number from 1 to 10", [HUGE, "2", True]),
    "temperature": (TEMPERATURE, [1e-310]),
    "second_budget": (BUDGET, [False]),
    "raw": (RAW, [1]),
}
# What is no setting; a method's name is that of one side of a comparison.
OTHERS = {
    "prompt": [
        *((value, f"The prompt must be text, not {value}.") for value in (None, 5, True)),
        (" ", "The prompt is empty: enter a prompt."),
        ("a\ud83d", "The prompt contains an invalid character (an unpaired surrogate)"),
    ],
    "method": [
        (value, f"There is no method named {value!r}: choose one of {', '.join(METHODS)}.")
        for value in (None, "\udfff", 5)
    ],
    "pair": [
        (value, f"There is no pair named {value!r}: choose one of embedded, ")
        for value in (None, 7, "a + \ud800", "a + b\0")
    ],
}


@pytest.mark.parametrize("endpoint, settings", [("generate", SETTINGS), ("compare", COMPARED)])
def test_a_wrong_value_is_told_in_a_sentence(page, capfd, endpoint, settings):
    wrong = [(name, value, begin + about(value)) for name, (begin, values) in settings.items() for value in values]
    wrong += [(name, *case) for name, cases in OTHERS.items() for case in cases]
    for name, value, sentence in wrong:
        name = "second_method" if (name, endpoint) == ("method", "compare") else name
        status, told = post(page, f"call/v2/{endpoint}", SHORT | {name: value})
        assert status in ("error", 422) and told.startswith(sentence) and told.endswith("."), (name, value, told)
        assert len(told) < 400
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("endpoint", ["generate", "compare"])
def test_what_is_no_call_is_told_before_it_waits(page, capfd, endpoint):
    named, listed = f"call/v2/{endpoint}", f"call/{endpoint}"
    status, told = post(page, named, SHORT | {"nonsense": 1})
    assert status == 422 and told.startswith("There is no argument named 'nonsense': use one of prompt, ")
    for value in (["a"], {}, [], {"path": "/etc/hostname", **FILE}, {"path": "http://127.0.0.1:9/x", **FILE}):
        status, told = post(page, named, SHORT | {"pair": value})
        assert status == 422 and told.startswith(
            ("pair must be a text, a number, true or false", "There is no pair named", "Upload the file first")
        )
    for count in (0, 1, 500):
        status, told = post(page, listed, {"data": ["hello"] * count})
        assert status == 422 and told.startswith(f"There are {count} arguments in the list, and there must be ")
    for path in ("call/v2/nothing", "call/nothing"):
        assert post(page, path, {"data": []}) == (
            404, "There is no endpoint named 'nothing': use one of generate, compare."
        )  # fmt: skip
    for path in (named, listed):
        for body in (b"{", b"", b"[1]", b'{"data": 1}', b"[" * 100_000, b'{"seed": ' + b"9" * 5_000 + b"}", b"\xff"):
            assert post(page, path, body)[0] in (400, 422)
    assert "Traceback" not in capfd.readouterr().err


def test_both_forms_of_a_call_are_answered(page):
    name, summary = post(page, "call/v2/generate", SHORT | {"sequences": 2, "budget": "3", "seed": 7.0})
    assert name == "complete" and summary["metrics"]["new_tokens"] == 3
    settings = summary["settings"]
    assert (settings["sequences"], settings["budget"], settings["seed"]) == (2, 3, 7)
    parameters = page.demo.get_api_info()["named_endpoints"]["/generate"]["parameters"]
    values = {each["parameter_name"]: each["parameter_default"] for each in parameters} | SHORT | {"seed": 7}
    assert post(page, "call/generate", {"data": list(values.values())})[0] == "complete"
    name, result = post(page, "call/v2/compare", SHORT | {"like_for_like": True})
    assert name == "complete" and result["baselines"]["target"]


@pytest.mark.parametrize("path", ["http://a/b", "HTTPS://a", "https:/a"])
def test_no_file_is_fetched_from_elsewhere(page, path):
    file = FILE | {"path": path, "orig_name": "a.zip"}
    for value in (file, FILE | {"path": path, "url": {"deep": [file]}}):
        # However it is written.
        sent = json.dumps(page.body("take_in", value, [])).replace("path", r"pa\u0074h")
        assert page.ask("POST", "/gradio_api/queue/join", sent.encode())[0] == 400
    assert page.join("take_in", FILE | {"path": r"C:\a", "url": path}, [])[0] == 200


WRONG = {
    "open_part": [[["x" * 201], ""], [["a", "a"], ""], [[[]], ""], [[{}], ""], [["a"] * 101, ""], [None, ""], [[], {}]],
    "show_small": [["x" * 4001], [[]]],
    "measure": [["huge", "embedded", "a", [], []], ["quick", "embedded", "a", ["nothing"], []]],
}


def test_a_value_out_of_its_bounds_or_no_choice_is_refused_before_gradio_sees_it(page, capfd):
    for name, wrong in WRONG.items():
        for values in wrong:
            status, told = page.join(name, *values)
            assert status == 400 and "not with these arguments" in told, (name, values)
    assert not capfd.readouterr().err


@pytest.mark.parametrize("number", [b"1e400", b"NaN", b"1" * 4000, b'"5"', b"null", b"[[[[]]]]"])
def test_no_value_makes_the_server_fail(page, capfd, number):
    for path in ("queue/join", "run/predict", "call/generate", "cancel", "reset"):
        for name in ("fn_index", "trigger_id", "session_hash", "event_id", "event_data", "data"):
            body = b'{"fn_index": 5, "session_hash": "ann", "data": [], "%s": %s}' % (name.encode(), number)
            status, _, told = page.ask("POST", f"/gradio_api/{path}", body)
            assert status < 500 and (status == 200 or json.loads(told)["detail"]), (name, told)
    assert "Traceback" not in capfd.readouterr().err
