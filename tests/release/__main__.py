"""The recordings and results that come along, made in one sitting on one machine, and all that shows them.

    python -m tests.release SITTING [--each 4] [--max-new-tokens 128]

SITTING: a folder for what is made; the same command goes on after an interruption, which loses one answer of the Lab or
the recordings of one prompt. --each: the Lab's questions of each task; a larger number goes on too. When all is there,
it is put into `assets`, and the README, docs/results.md and their pictures are written anew. Needs Chromium.
"""

import sys
from functools import partial
from pathlib import Path

import duoviz
from duoviz.command_line import tell
from duoviz.decoding.engine import load_engine
from duoviz.decoding.settings import Settings
from duoviz.space import ROOT
from tests.benchmarks.fewer_bits import load_in
from tests.benchmarks.harness import arguments
from tests.release.moving_picture import draw
from tests.release.sitting import INT8, LARGER, LARGER_PAIR, NAME, put, record


def main() -> None:
    parser = arguments(__doc__, each=4, max_new_tokens=128)
    parser.add_argument("sitting", type=Path)
    options = parser.parse_args()
    asked = {
        "each": options.each,
        "max_new_tokens": options.max_new_tokens,
        "report": partial(print, file=sys.stderr, flush=True),
    }
    with load_engine(progress=tell) as engine:
        record(engine, options.sitting, Settings(max_new_tokens=options.max_new_tokens))
        duoviz.bench(engine, out=options.sitting / NAME, variants=True, **asked)
    with load_engine(LARGER_PAIR, progress=tell) as engine:
        duoviz.bench(engine, out=options.sitting / LARGER, table_1=True, **asked)
    with load_in("int8") as engine:
        duoviz.bench(engine, out=options.sitting / INT8, table_1=True, **asked)
    put(options.sitting, ROOT)
    draw(ROOT / "assets" / "iteration.webp")


if __name__ == "__main__":
    main()
