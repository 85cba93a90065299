"""The decoding methods: generators with one contract, `method(pair, prompt_ids, settings)`."""

from duoviz.decoding.duodecoding import duodecoding
from duoviz.decoding.lookahead import lookahead
from duoviz.decoding.prompt_lookup import prompt_lookup
from duoviz.decoding.rest import rest
from duoviz.decoding.speculative import speculative
from duoviz.decoding.vanilla import vanilla

METHODS = {
    "vanilla": vanilla,
    "speculative": speculative,
    "prompt_lookup": prompt_lookup,
    "rest": rest,
    "lookahead": lookahead,
    "duodecoding": duodecoding,
}

# What each is called on the page and in the Lab's tables.
METHOD_TITLES = {
    "vanilla": "Vanilla",
    "speculative": "SpS",
    "prompt_lookup": "PLD",
    "rest": "REST",
    "lookahead": "Lookahead",
    "duodecoding": "DuoDecoding",
}
