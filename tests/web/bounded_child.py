"""A served page on a tiny pair, whose memory and loop another process watches; it has no pace of its own."""

import json
import sys

from duoviz.web import bounds
from duoviz.web.start import quickly

with quickly():
    import gradio  # noqa: F401

from tests.e2e.tiny_site import tiny_site


def main() -> None:
    bounds.RATES, bounds.REFUSALS = dict.fromkeys(bounds.RATES, (10**9, 10**9)), 10**9
    with tiny_site() as site:
        print(json.dumps({"url": site.url, "loop": site.demo.server.thread.native_id}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
