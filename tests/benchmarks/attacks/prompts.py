"""Item 2: prompts that are far too long."""

import tempfile
import threading
from collections import Counter
from pathlib import Path

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import CALL, Site, command_line

MUST_HOLD = "refused with a sentence, and the next visitor waits for none of them"


@attack("2 huge prompts", MUST_HOLD)
def more_than_any_page_sends(site: Site) -> Result:
    """30 MB each, as in the first attack, at both kinds of door."""
    body = b'{"prompt": "' + b"word " * 6_000_000 + b'"}'
    join = b'{"fn_index": 2, "session_hash": "s", "data": ["' + b"word " * 6_000_000 + b'"]}'
    return beside(site, "4 × 30 MB", [(CALL, body), ("/gradio_api/queue/join", join)] * 2, {413})


@attack("2 huge prompts", MUST_HOLD)
def just_too_many_characters(site: Site) -> Result:
    """2 MB each."""
    return beside(site, "6 × 2 MB", [(CALL, {"prompt": "word " * 400_000})] * 6, {422})


@attack("2 huge prompts", "one line and exit code 1, within 30 s")
def on_the_command_line(site: Site) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "prompts.jsonl"
        file.write_text('{"turns": ["' + "word " * 1_000_000 + '"]}\n')
        return complained("compare with a prompt of 5 MB", file, "too long")


@attack("2 huge prompts", "one line and exit code 1, within 30 s")
def no_prompts_at_all(site: Site) -> list[Result]:
    files = [Path("/dev/null"), Path("/proc/self/mem"), Path("/")]
    return [complained(f"compare with {file}", file, str(file)) for file in files]


def complained(done: str, file: Path, reason: str) -> Result:
    """What `compare` says of a file of prompts."""
    seconds, told, held = command_line("compare", "--prompts", str(file), "--methods", "vanilla")
    return Result(done, f"{seconds:.1f} s: {told}", held and reason in told[0] and seconds < 30)


def beside(site: Site, done: str, requests: list, expected: set[int]) -> Result:
    """Send requests at once, and see how long a visitor's run takes that comes right after them."""
    visitor = site.client()
    usual = site.run_of(visitor)[0]
    statuses: Counter = Counter()

    def send(path: str, body: object) -> None:
        statuses[site.ask("POST", path, body, timeout=120)[0]] += 1

    senders = [threading.Thread(target=send, args=request) for request in requests]
    for each in senders:
        each.start()
    seconds = site.run_of(visitor)[0]
    for each in senders:
        each.join()
    told = f"a visitor's run {seconds:.1f} s beside them (alone {usual:.1f} s); answers: {dict(statuses)}"
    return Result(done, told, set(statuses) <= expected and seconds < 10 * usual + 2)
