"""Calls of a real server: every mistake in an argument is told in a sentence, to page and clients alike."""

import http.client
import json
from urllib.parse import urlsplit

import pytest

from duoviz.web.app import build_app
from duoviz.web.calls import Refused, arguments, parsed
from duoviz.web.serving import launch
from tests.thread_places import hardware_with, nothing_to_fetch

SHORT = {"prompt": "hello", "max_new_tokens": 3}
METHODS = "choose one of vanilla, speculative, prompt_lookup, rest, lookahead, duodecoding, duotree."
HUGE = 10**400
FILE = {"meta": {"_type": "gradio.FileData"}}


@pytest.fixture(scope="module")
def server():
    """The page on a tiny pair, as (host and port, the app)."""
    with nothing_to_fetch():
        hardware = hardware_with()
        hardware.pool.start()
        demo = build_app(hardware)
        _, url, _ = launch(demo, hardware, prevent_thread_lock=True, quiet=True)
        yield urlsplit(url).netloc, demo
        demo.close()
        hardware.close()


def exchange(server, method, path, body=b""):
    """(status, text) of a raw request."""
    connection = http.client.HTTPConnection(server[0], timeout=60)
    connection.request(method, f"/gradio_api/{path}", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def last_event(server, path, event):
    """(name, value) of an event's last message."""
    _, text = exchange(server, "GET", f"{path}/{event}")
    name, data = text.strip().split("\n\n")[-1].split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def sentence_of(detail):
    """What a refusal says, in whichever of Gradio's forms."""
    return detail if isinstance(detail, str) else detail[0].get("message") or detail[0]["msg"]


def post(server, path, body):
    """What a call comes to: ("complete", its value), or ("error" or the status, the sentence)."""
    status, text = exchange(server, "POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())
    if status != 200:
        return status, sentence_of(json.loads(text)["detail"])
    name, value = last_event(server, path, json.loads(text)["event_id"])
    return name, value[0] if name == "complete" else value["error"]


@pytest.mark.parametrize(
    "argument, value, sentence",
    [
        ("prompt", None, "The prompt must be text, not None."),
        ("prompt", 5, "The prompt must be text, not 5."),
        ("prompt", True, "The prompt must be text, not True."),
        ("prompt", " ", "The prompt is empty: enter a prompt."),
        (
            "prompt",
            "a\ud83d",
            "The prompt contains an invalid character (an unpaired surrogate)",
        ),
        ("method", None, f"There is no method named None: {METHODS}"),
        ("method", "\udfff", rf"There is no method named '\udfff': {METHODS}"),
        ("method", 5, f"There is no method named 5: {METHODS}"),
        ("pair", None, "There is no pair named None: choose one of embedded, "),
        ("pair", 7, "There is no pair named 7: choose one of embedded, "),
        ("pair", "a + \ud800", r"There is no pair named 'a + \ud800': choose one of embedded, "),
        ("pair", "a + b\0", r"There is no pair named 'a + b\x00': choose one of embedded, "),
        ("temperature", 5e-324, "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not 5e-324."),
        ("temperature", 1e-310, "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not 1e-310."),
        ("temperature", HUGE, "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not a number of more"),
        ("temperature", "0.5", "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not '0.5'."),
        ("temperature", False, "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not False."),
        ("temperature", None, "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0."),
        ("temperature", float("nan"), "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not nan."),
        ("top_p", float("inf"), "Top-p (top_p): enter a number from 0.01 to 1, not inf."),
        ("top_k", "5", "Top-k (top_k): enter a whole number from 0 to 9007199254740991, not '5'."),
        ("top_k", -1, "Top-k (top_k): enter a whole number from 0 to 9007199254740991, not -1."),
        ("seed", HUGE, "Seed: enter a whole number from 0 to 9007199254740991, not a number of more than 60 digits."),
        ("seed", 1e300, "Seed: enter a whole number from 0 to 9007199254740991, not a number of more than 60 digits."),
        ("seed", True, "Seed: enter a whole number from 0 to 9007199254740991, not True."),
        ("max_new_tokens", "4", "Max new tokens (max_new_tokens): enter a whole number from 1 to 4096, not '4'."),
        ("max_new_tokens", True, "Max new tokens (max_new_tokens): enter a whole number from 1 to 4096, not True."),
        ("sequences", 2.5, "Draft sequences k (sequences): enter dynamic or a whole number from 1 to 8, not 2.5."),
        ("sequences", None, "Draft sequences k (sequences): enter dynamic or a whole number from 1 to 8."),
        ("budget", True, "Draft budget γ (budget): enter auto or a whole number from 1 to 64, not True."),
        ("budget", "1_0", "Draft budget γ (budget): enter auto or a whole number from 1 to 64, not '1_0'."),
        ("budget", "9" * 5000, "Draft budget γ (budget): enter auto or a whole number from 1 to 64, not '999"),
        ("acceptance", "x", "Acceptance: enter coupled or rejection, not 'x'."),
        ("cores", None, "Cores: enter auto, all or target."),
        ("raw", "x", "raw: enter true or false, not 'x'."),
        ("raw", 0, "raw: enter true or false, not 0."),
        ("rest_datastore", "\ud800", r"Datastore (rest_datastore): enter the name of a folder, not '\ud800'."),
        ("rest_datastore", 5, "Datastore (rest_datastore): enter the name of a folder, not 5."),
    ],
)
def test_a_wrong_value_is_told_in_a_sentence(server, capfd, argument, value, sentence):
    told = post(server, "call/v2/generate", SHORT | {argument: value})
    assert told[0] in ("error", 422) and told[1].startswith(sentence) and told[1].endswith(".") and len(told[1]) < 400
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "argument, value, sentence",
    [
        ("like_for_like", "x", "like_for_like: enter true or false, not 'x'."),
        ("like_for_like", None, "like_for_like: enter true or false."),
        ("repeats", HUGE, "repeats: enter a whole number from 1 to 10, not a number of more than 60 digits."),
        ("repeats", "2", "repeats: enter a whole number from 1 to 10, not '2'."),
        ("repeats", True, "repeats: enter a whole number from 1 to 10, not True."),
        ("first_method", None, f"There is no method named None: {METHODS}"),
        ("second_method", 5, f"There is no method named 5: {METHODS}"),
        ("prompt", None, "The prompt must be text, not None."),
        ("prompt", "\udfff", "The prompt contains an invalid character"),
        ("pair", None, "There is no pair named None: choose one of embedded, "),
        ("temperature", 1e-310, "Temperature: enter 0 (greedy) or a number from 1e-05 to 2.0, not 1e-310."),
        ("second_budget", False, "Draft budget γ (budget): enter auto or a whole number from 1 to 64, not False."),
        ("raw", 1, "raw: enter true or false, not 1."),
    ],
)
def test_so_it_is_in_a_comparison(server, capfd, argument, value, sentence):
    told = post(server, "call/v2/compare", SHORT | {argument: value})
    assert told[0] in ("error", 422) and told[1].startswith(sentence)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("endpoint", ["generate", "compare"])
def test_what_is_no_call_is_told_before_it_waits(server, capfd, endpoint):
    named, listed = f"call/v2/{endpoint}", f"call/{endpoint}"
    status, told = post(server, named, SHORT | {"nonsense": 1})
    assert status == 422 and told.startswith("There is no argument named 'nonsense': use one of prompt, ")
    for value in (["a"], {}, [], {"path": "/etc/hostname", **FILE}, {"path": "http://127.0.0.1:9/x", **FILE}):
        status, told = post(server, named, SHORT | {"pair": value})
        assert status == 422 and told.startswith(
            ("pair must be a text, a number, true or false", "There is no pair named", "Upload the file first")
        )
    for count in (0, 1, 500):
        status, told = post(server, listed, {"data": ["hello"] * count})
        assert status == 422 and told.startswith(f"There are {count} arguments in the list, and there must be ")
    for path in ("call/v2/nothing", "call/nothing"):
        assert post(server, path, {"data": []}) == (
            404, "There is no endpoint named 'nothing': use one of generate, compare."
        )  # fmt: skip
    for path in (named, listed):
        for body in (b"{", b"", b"[1]", b'{"data": 1}', b"[" * 100_000, b'{"seed": ' + b"9" * 5_000 + b"}", b"\xff"):
            assert post(server, path, body)[0] in (400, 422)
    assert "Traceback" not in capfd.readouterr().err


def test_both_forms_of_a_call_are_answered(server):
    name, summary = post(server, "call/v2/generate", SHORT | {"sequences": 2, "budget": "3", "seed": 7.0})
    assert name == "complete" and summary["metrics"]["new_tokens"] == 3
    settings = summary["settings"]
    assert (settings["sequences"], settings["budget"], settings["seed"]) == (2, 3, 7)
    parameters = server[1].get_api_info()["named_endpoints"]["/generate"]["parameters"]
    values = {each["parameter_name"]: each["parameter_default"] for each in parameters} | SHORT | {"seed": 7}
    assert post(server, "call/generate", {"data": list(values.values())})[0] == "complete"
    name, result = post(server, "call/v2/compare", SHORT | {"like_for_like": True})
    assert name == "complete" and result["baselines"]["target"]


def test_the_lowest_temperatures_write_the_greedy_text(server):
    texts = [
        post(server, "call/v2/generate", SHORT | {"method": method, "temperature": temperature})[1]["text"]
        for method, temperature in (("vanilla", 0), ("vanilla", 1e-5), ("lookahead", 1e-5), ("duodecoding", 1e-5))
    ]
    assert len(set(texts)) == 1


def test_the_page_fetches_no_file_from_elsewhere(server):
    watch = next(number for number, each in server[1].fns.items() if each.name == "watch")
    body = {"fn_index": watch, "session_hash": "a", "data": [{"path": "http://127.0.0.1:9/x", **FILE}]}
    status, text = exchange(server, "POST", "queue/join", json.dumps(body).encode())
    assert status == 422 and "no file is fetched from elsewhere" in text


@pytest.mark.parametrize("path", ["http://a/b", "HTTPS://a", "https:/a"])
def test_addresses(path):
    for content in ({"data": [1, [{"a": {"path": path}}]]}, {"p": 1, "path": path}):
        # However it is written.
        for sent in (json.dumps(content), json.dumps(content).replace("path", r"pa\u0074h").replace(": ", ":\n ")):
            with pytest.raises(Refused) as refused:
                parsed(sent.encode())
            assert refused.value.status == 422
    fine = {"data": [path, '"path": "http:', {"path": r"C:\a", "url": path}, {"path": 5}, {"path": "a/b:c"}]}
    assert parsed(json.dumps(fine).encode()) == fine


def test_arguments():
    assert arguments(["a", "b"], {"b": 1}) == {"b": 1} and arguments(["a"], [None]) == {"a": None}
    with pytest.raises(Refused) as refused:
        arguments(["a"], {"x" * 10_000: 1})
    assert refused.value.detail.endswith(": use one of a.") and len(refused.value.detail) < 120
