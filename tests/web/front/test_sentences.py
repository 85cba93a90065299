"""What is said of each iteration of real runs, in each method's own words."""

import re

from tests.node import evaluate

NOTES = """async (traces) => {
  const { note } = await import("http://plain.test/visualizer/sentence.js");
  return traces.map(({ header, iterations, end }) => iterations.map((iteration, index) => (
    note(iteration, { header, end, before: 0, last: index === iterations.length - 1 }))));
}"""


def test_the_methods_own_words_make_whole_sentences(traces):
    for (method, trace), notes in zip(traces.items(), evaluate(NOTES, list(traces.values())), strict=True):
        for each, note in zip(trace["iterations"], notes, strict=True):
            whole = re.fullmatch(r"[A-Z].*\.", note) and not re.search(r"[{}#]|undefined|null|NaN", note)
            assert whole or not note and method == "vanilla" and each["index"], (method, note)
