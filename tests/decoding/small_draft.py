"""A small draft that a process can load."""

from functools import partial

from tests.weights import decoder, tiny_weights

load = partial(decoder, *tiny_weights(2, context=1024))
