"""Attacks on the running page, and what must hold under them.

Each is one function in one of this package's files, under `@attack(item, "what must hold")` of `register`;
the program (`python -m tests.benchmarks.attacks`) finds the files by itself.
"""
