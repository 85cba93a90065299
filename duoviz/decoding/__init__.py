"""The decoding methods by id."""

from duoviz.decoding.duodecoding import DUODECODING
from duoviz.decoding.duotree.drafter import DUOTREE
from duoviz.decoding.lookahead import LOOKAHEAD
from duoviz.decoding.method import Method
from duoviz.decoding.prompt_lookup import PROMPT_LOOKUP
from duoviz.decoding.rest import REST
from duoviz.decoding.speculative import SPECULATIVE
from duoviz.decoding.vanilla import VANILLA

# In the order of the tables.
METHODS: dict[str, Method] = {
    method.id: method for method in (VANILLA, SPECULATIVE, PROMPT_LOOKUP, REST, LOOKAHEAD, DUODECODING, DUOTREE)
}
