"""The decoding methods: generators with one contract, `method(pair, prompt_ids, settings)`."""

from duoviz.decoding.duodecoding import duodecoding
from duoviz.decoding.speculative import speculative
from duoviz.decoding.vanilla import vanilla

METHODS = {"vanilla": vanilla, "speculative": speculative, "duodecoding": duodecoding}
