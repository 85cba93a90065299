"""A small draft that a process can load."""

from functools import partial

from tests.tiny import reference_model, weights
from tests.weights import decoder

load = partial(decoder, *weights(reference_model(2, context=1024)))
