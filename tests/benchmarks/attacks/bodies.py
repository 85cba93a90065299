"""Item 13: bodies that are large for what they say, and values that no function of the page takes."""

import json
import random
import time
from collections import Counter
from functools import partial
from pathlib import Path

from duoviz.web import bounds
from tests.benchmarks.attacks.flood import beside
from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site
from tests.benchmarks.attacks.strangers import JOIN, number_of

# As large as a request may be, and larger than any may be.
SIZE, LARGER = bounds.BODY - 1000, 8_000_000
MB = 64


def call(site: Site, name: str, *values: str, session: str = "ann") -> bytes:
    """A call of the page's own function with this name, with these arguments in JSON."""
    return b'{"fn_index": %d, "session_hash": "%s", "data": [%s]}' % (
        number_of(site, name), session.encode(), ",".join(values).encode()
    )  # fmt: skip


@attack("13 bodies", f"memory grows by at most {MB} MB, comes back, and a run beside them takes 1.3 times its time")
def large_bodies(site: Site) -> list[Result]:
    """Of empty objects, and of other things that are more in memory than as text."""
    kinds = {
        "empty objects": f"[{'{},' * (SIZE // 3 - 99)}{{}}]",
        "empty objects, and more than may be sent": f"[{'{},' * (LARGER // 3 - 99)}{{}}]",
        "one name": f"[{repeated('two-cores')}]",
        "keys": "{" + ",".join(f'"{number}":1' for number in range(SIZE // 13)) + "}",
        "brackets": "[" * (SIZE // 2 - 99) + "]" * (SIZE // 2 - 99),
        "one text": '"' + "x" * (SIZE - 99) + '"',
    }
    return [heavy(site, name, call(site, "open_part", value, '""')) for name, value in kinds.items()]


def repeated(name: str) -> str:
    return ",".join([f'"{name}"'] * (SIZE // (len(name) + 3) - 99))


def heavy(site: Site, name: str, body: bytes) -> Result:
    server = Path(f"/proc/{site.process.pid}")
    (server / "clear_refs").write_text("5")  # The peak of its memory begins anew.
    before = memory_of(server, "VmHWM")
    sent = partial(site.flood, 40, lambda number: body, path=JOIN, connections=4)
    found = beside(site, f"40 × {len(body) / 1e6:.1f} MB of {name}, four at a time", sent)
    peak, after = memory_of(server, "VmHWM"), memory_of(server, "VmRSS")
    told = f"{before:.0f} → at most {peak:.0f} → {after:.0f} MB; {found.result}"
    return Result(found.done, told, found.held and peak - before < MB and after - before < MB / 4)


def memory_of(process: Path, kind: str) -> float:
    """Megabytes, as Linux counts them of a process."""
    return int((process / "status").read_text().partition(f"{kind}:")[2].split()[0]) / 1000


@attack("13 bodies", "refused in one sentence, and the log tells next to nothing")
def wrong_choices(site: Site) -> list[Result]:
    """Choices that no menu has: short, long, and one again and again."""
    found = []
    for name, values in (
        ("show_small", ['"nothing"']), ("show_small", [json.dumps("x" * 7_900_000)]),
        ("open_part", [json.dumps(["two-cores"] * 20), '""']), ("open_part", [json.dumps(["two-cores"] * 2000), '""']),
        ("open_part", [f"[{repeated('two-cores')}]", '""']), ("open_part", ['["nothing"]', '""']),
    ):  # fmt: skip
        log, begin = site.log.stat().st_size, time.monotonic()
        status, _, told = site.ask("POST", JOIN, call(site, name, *values))
        grown, seconds = site.log.stat().st_size - log, time.monotonic() - begin
        said = f"{status}: {told[:80]} in {seconds:.1f} s, the log grew by {grown:,} bytes"
        held = status in (200, 400, 413) and grown < 10_000 and seconds < 5
        found.append(Result(f"{name} of {len(values[0]):,} bytes", said, held))
    return found


@attack("13 bodies", "no request is answered with 500", kind="space")
def mutated_requests(site: Site) -> Result:
    """Paths, queries, headers and bodies of real requests, each with something spoilt."""
    chance = random.Random(0)
    odd = [
        "",
        "\x7f",
        "[::1",
        "1e400",
        "-1",
        "null",
        "NaN",
        "é",
        "a" * 300,
        "../x",
        "%00",
        "%ff",
        "{}",
        "[]",
        '"',
        "http://x:y",
    ]
    bases = [
        ("GET", "/", None), ("GET", "/?page=", None), ("GET", "/config?deep_link=", None), ("GET", "/assets/", None),
        ("GET", "/gradio_api/info?all_endpoints=", None), ("GET", "/gradio_api/queue/data?session_hash=", None),
        ("GET", "/gradio_api/file=", None), ("GET", "/scripts/", None), ("GET", "/recordings/", None),
        ("POST", "/gradio_api/queue/join", '{"fn_index": @, "session_hash": "ann", "data": [], "event_data": null}'),
        ("POST", "/gradio_api/call/v2/generate", '{"prompt": "x", "seed": @}'),
        ("POST", "/gradio_api/call/generate", '{"data": [@], "session_hash": "ann"}'),
        ("POST", "/gradio_api/cancel", '{"session_hash": "ann", "fn_index": @, "event_id": "x"}'),
        ("POST", "/gradio_api/component_server", '{"component_id": @, "fn_name": "x", "session_hash": "a", "data": @}'),
        ("POST", "/gradio_api/upload", "@"),
    ]  # fmt: skip
    headers = (
        "X-Forwarded-Host",
        "X-Gradio-Server",
        "X-Forwarded-Proto",
        "Origin",
        "Content-Type",
        "Referer",
        "Cookie",
    )
    statuses: Counter = Counter()
    for number in range(600):
        method, path, body = chance.choice(bases)
        spoilt = chance.choice(odd).encode("ascii", "replace").decode().replace(" ", "")
        path += "".join(each for each in spoilt if each.isprintable()) if body is None else ""
        sent = body and body.replace("@", chance.choice([*odd, json.dumps(chance.choice(odd))])).encode()
        extra = {chance.choice(headers): chance.choice(odd).encode("latin-1", "replace").decode("latin-1")}
        address = site.forwarded(f"8.8.{number % 200}.8")
        statuses[site.ask(method, path, sent, **extra, **address)[0]] += 1
    return Result("600 spoilt requests", f"answers: {dict(statuses)}", not any(status >= 500 for status in statuses))
