"""All that is measured with a target of the paper's size, in one run.

    python -m tests.benchmarks.large_target --out DIR [--pair embedded-as-llama-2-7b] [--prompts 10] [--each 2]
                                            [--max-new-tokens 128]

Where a forward's time goes and how near vanilla comes to the memory's speed; every method's texts against vanilla's;
the Lab's tables, as `bench` writes them; one recording of each method, as in assets/traces. Each part is a command that
can be run alone; all are run, and it exits with 1 where one failed. On a processor choose a smaller shape.
"""

import shlex
import subprocess
import sys
import time

from tests.benchmarks.harness import arguments


def main() -> int:
    parser = arguments(__doc__, pair="embedded-as-llama-2-7b", prompts=10, each=2, max_new_tokens=128)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    pair, length = f"--pair {options.pair}", f"--max-new-tokens {options.max_new_tokens}"
    commands = (
        f"tests.benchmarks.forward {pair}",
        f"tests.benchmarks.equality {pair} --prompts {options.prompts} {length}",
        f"duoviz bench {pair} --each {options.each} --variants {length} --out {options.out}/results",
        f"duoviz record {pair} {length} --out {options.out}/traces",
    )
    failed = 0
    for command in commands:
        start = time.monotonic()
        print(f"\n$ python -m {command}", flush=True)
        failed += subprocess.run([sys.executable, "-m", *shlex.split(command)], check=False).returncode != 0
        print(f"({time.monotonic() - start:.0f} s)", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
