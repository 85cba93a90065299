"""The decoding methods: generators with one contract, `method(pair, prompt_ids, settings)`."""

from duoviz.decoding.duodecoding import duodecoding
from duoviz.decoding.vanilla import vanilla

METHODS = {"vanilla": vanilla, "duodecoding": duodecoding}
