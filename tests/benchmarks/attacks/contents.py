"""Files of results and arguments that are none, sent as a page and a client would send them."""

import io
import json
import re
import shutil
import threading
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from duoviz.lab.bench import bench
from duoviz.lab.plan import make_plan
from duoviz.lab.results import opened, zipped
from duoviz.web.lab_run import available, loaded_folder, own_folder
from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site
from tests.tiny import tiny_pair

API = "/gradio_api"
FAILED_ROW = b'{"question_id": 1, "model_id": "m", "task": "t", "repeat": 0, "message": ""}\n'
# Of a run, and of a zip that is loaded.
NAME = "attack good"


class Page:
    """The Lab's tab, asked as a browser would: by the events of its components."""

    def __init__(self, site: Site):
        self.site, self.session = site, uuid.uuid4().hex
        self.config = json.loads(site.ask("GET", "/config")[2])
        self.ids = {each["props"].get("elem_id"): each["id"] for each in self.config["components"]}

    def press(self, element: str, event: str, *data: object, seconds: float = 120) -> list[dict]:
        """What an event's listener gives, message after message."""
        (number,) = (
            each["id"] for each in self.config["dependencies"] if [self.ids[element], event] in each["targets"]
        )
        body = {"fn_index": number, "session_hash": self.session, "data": data, "trigger_id": self.ids[element]}
        status, _, text = self.site.ask("POST", f"{API}/queue/join", body)
        if status != 200:
            raise RuntimeError(f"{status}: {text[:200]}")
        stream = self.site.ask("GET", f"{API}/queue/data?session_hash={self.session}", timeout=seconds)[2]
        return [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: ")]

    def send_file(self, name: str, content: bytes) -> dict:
        """A file among the server's uploads, as Gradio calls it."""
        border = uuid.uuid4().hex
        head = f'--{border}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{border}--\r\n".encode()
        kind = f"multipart/form-data; boundary={border}"
        status, _, text = self.site.ask("POST", f"{API}/upload", body, **{"Content-Type": kind})
        if status != 200:
            raise RuntimeError(f"{status}: {text[:200]}")
        meta = {"_type": "gradio.FileData"}
        return {"path": json.loads(text)[0], "orig_name": name, "size": len(content), "meta": meta}

    def load(self, name: str, content: bytes) -> str:
        """All that the page is told of a zip that is loaded."""
        return json.dumps(self.press("lab-load", "upload", self.send_file(name, content), []))


def zip_of(files: dict[str, Callable[[], Iterator[bytes]]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=9) as out:
        for name, parts in files.items():
            with out.open(name, "w", force_zip64=True) as file:
                for part in parts():
                    file.write(part)
    return buffer.getvalue()


def repeated(line: bytes, count: int) -> Callable[[], Iterator[bytes]]:
    """So many of a line."""
    return lambda: (line * 100_000 for _ in range(count // 100_000))


def results(path: Path, tokens: int = 8) -> Path:
    """A folder of results of a tiny model, made as the Lab makes them."""
    questions = path.parent / "question.jsonl"
    questions.write_text('{"question_id": 1, "category": "qa", "turns": ["tell me"]}\n')
    plan = make_plan(quick=True, file=questions, methods=["vanilla"], max_new_tokens=tokens)
    with opened(path) as writable:
        for _ in bench(tiny_pair(), plan, writable):
            pass
    return path


def bad_zips(folder: Path) -> dict[str, bytes]:
    """Zips that are no results, by what is in them."""
    path = results(folder / NAME)
    good = {name: lambda name=name: iter([(path / name).read_bytes()]) for name in ("environment.json", "plan.json")}
    row = next(iter((path / "answers").iterdir())).read_bytes().splitlines()[0]
    return {
        "160 million lines of {}": zip_of(good | {"failed.jsonl": repeated(b"{}\n", 160_000_000)}),
        "60 million lines of {}": zip_of(good | {"failed.jsonl": repeated(b"{}\n", 60_000_000)}),
        "2 million failed answers": zip_of(good | {"failed.jsonl": repeated(FAILED_ROW, 2_000_000)}),
        "a line of 190 MB": zip_of(good | {"failed.jsonl": repeated(b"[" * 1_000, 100_000)}),
        "a plan nested 1 million levels": zip_of(good | {"plan.json": repeated(b"[", 1_000_000)}),
        "an answer with inf": zip_of(good | {"answers/a.jsonl": lambda: iter([row[:-1] + b', "a": 1e999}\n'])}),
        "an answer with NaN": zip_of(good | {"answers/a.jsonl": lambda: iter([row[:-1] + b', "a": NaN}\n'])}),
        "20,000 files": zip_of(good | {f"{number}.json": lambda: iter([b"{}"]) for number in range(20_000)}),
        "files packed with LZMA": zip_of(good, zipfile.ZIP_LZMA),
    }


class Watch:
    """How much time a server computes, and how much memory more than before it holds at most, while one looks."""

    def __init__(self, site: Site):
        self.process, self.over = psutil.Process(site.process.pid), threading.Event()

    def __enter__(self) -> "Watch":
        self.before, self.computed = self.process.memory_info().rss, self.seconds()
        self.most = self.before
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self) -> None:
        while not self.over.wait(0.01):
            self.most = max(self.most, self.process.memory_info().rss)

    def seconds(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        self.computed = self.seconds() - self.computed
        self.grown = (self.most - self.before) / 1e6


@attack("6 files", "a zip that is no results is refused in a sentence, after little computing and in little memory")
def zips_that_are_no_results(site: Site) -> Iterator[Result]:
    """Zips that grow as they are unpacked, loaded in the Lab."""
    with TemporaryDirectory() as folder:
        zips = bad_zips(Path(folder))
    page = Page(site)
    page.load("first.zip", b"none")
    for what, content in zips.items():
        with Watch(site) as watch:
            told = page.load("bad.zip", content)
        sentence = re.search(r"holds no results of the Lab, or damaged ones[^<]*", told)
        held = sentence is not None and watch.computed < 2 and watch.grown < 100
        found = f"{watch.computed:.2f} s of computing, {watch.grown:.0f} MB; {sentence[0] if sentence else told[-200:]}"
        yield Result(f"{what} ({len(content) / 1e3:.0f} kB)", found, held)


@attack("7 names", "what was loaded and what was run are told apart, whatever their names")
def a_zip_with_the_name_of_a_run(site: Site) -> Iterator[Result]:
    """A zip is loaded whose name is a run's, and each is shown; then a run is asked for whose name is a zip's."""
    page = Page(site)
    try:
        with TemporaryDirectory() as folder:
            own, other = results(Path(folder) / NAME, 8), results(Path(folder) / "other", 6)
            shutil.copytree(own, own_folder() / NAME)
            page.load(f"{NAME}.zip", zipped(other))
        loaded = next(name for name in available(recorded_only=False) if name.startswith(f"{NAME} ("))
        shown = {name: json.dumps(page.press("lab-results", "change", [name])) for name in (NAME, loaded)}
        apart = [f"at most {tokens} new tokens" in shown[name] for name, tokens in ((NAME, 8), (loaded, 6))]
        yield Result(f"a zip named as a run, {NAME}", f"shown as {NAME!r} and {loaded!r}", all(apart))
        told = json.dumps(page.press("lab-run", "click", "quick", "embedded", "x.zip", ["qa"], ["vanilla"]))
        sentence = re.search(r"A name [^<]*\.", told)
        entry = (own_folder() / "x.zip").exists()
        yield Result("a run named x.zip", sentence[0] if sentence else told[-200:], sentence is not None and not entry)
    finally:
        shutil.rmtree(own_folder() / NAME, ignore_errors=True)
        for file in loaded_folder().glob(f"{NAME}*.zip"):
            file.unlink()


ODD = {
    "generate": {
        "prompt": [None, 5, ["a"], {"a": 1}, "\ud800", " "],
        "method": [None, ["vanilla"], "\udfff", "magic"],
        "pair": [None, ["embedded"], "\ud800 + b", 10**400],
        "temperature": [5e-324, 1e-310, 10**400, "0.5", True, float("nan"), float("inf"), None, [0]],
        "top_k": ["5", True, -1, 1e300],
        "top_p": [0, "1", float("nan")],
        "seed": [10**400, "1", -1, 0.5, True],
        "max_new_tokens": [0, "4", 10**400, None, {}],
        "sequences": [None, True, 99, "many"],
        "budget": ["9" * 5_000, 0, None, True],
        "acceptance": [None, 5, []],
        "raw": ["x", 0, None],
        "rest_datastore": [None, 5, "\ud800"],
        "nonsense": [1],
    },
    "compare": {
        "like_for_like": ["x", 1, None],
        "repeats": ["2", True, 10**400, None, 0],
        "first_method": [None, []],
        "second_budget": [False, "1_0"],
        "prompt": [None, "\udfff"],
        "nonsense": [None],
    },
}


def named_in_errors(site: Site, endpoint: str, sent: dict) -> tuple[str, str]:
    """(status or event, sentence) that a call comes to."""
    path = f"{API}/call/v2/{endpoint}"
    status, _, text = site.ask("POST", path, sent)
    if status != 200:
        found = json.loads(text).get("detail") if text.startswith("{") else None
        return str(status), found if isinstance(found, str) else (found or [{}])[0].get("message", "")
    text = site.ask("GET", f"{path}/{json.loads(text)['event_id']}")[2].strip().split("\n\n")[-1]
    event, data = text.split("\n", 1)
    value = json.loads(data.removeprefix("data: "))
    return event.removeprefix("event: "), value.get("error") or "" if isinstance(value, dict) else "an answer"


@attack("9 arguments", "every odd argument of a call is told in a sentence")
def odd_arguments(site: Site) -> Result:
    """Values of other kinds, out of range or none, one at a time."""
    wrong, count = [], 0
    before = site.log.read_text(errors="replace").count("Traceback")
    for endpoint, arguments in ODD.items():
        for name, values in arguments.items():
            for value in values:
                kind, sentence = named_in_errors(site, endpoint, {"prompt": "hello", "max_new_tokens": 4, name: value})
                count += 1
                if kind not in ("error", "422") or not sentence.endswith(".") or len(sentence) > 1_500:
                    wrong.append(f"{endpoint} {name}={value!r:.30}: {kind} {sentence:.60}")
                # No faster than a visitor would be refused.
                time.sleep(0.02)
    traces = site.log.read_text(errors="replace").count("Traceback") - before
    told = f"{count - len(wrong)} told in a sentence, {traces} tracebacks {'; '.join(wrong[:3])}"
    return Result(f"{count} calls", told, not wrong and traces == 0)
