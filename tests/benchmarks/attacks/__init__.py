"""Attacks on the running page that only a whole server feels, and what must hold under them.

Each is one function under `@attack(item, "what must hold")`; `python -m tests.benchmarks.attacks` does them all.
"""
