"""The folders of the tests, and which of them are not among the quick ones."""

from pathlib import Path

TESTS = Path(__file__).parent
# What computes is tested quickly; what serves imports Gradio, and what trains takes its time.
NOT_QUICK = ("e2e", "web", "training", "benchmarks", "release")
