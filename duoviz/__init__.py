"""duoviz: DuoDecoding, run for real and shown live."""

from duoviz import waiting

waiting.be_a_good_neighbour()

from duoviz.decoding.iteration import Iteration
from duoviz.decoding.settings import Settings
from duoviz.models.load import load_pair
from duoviz.runner import stream as generate

__all__ = ["Iteration", "Settings", "generate", "load_pair"]
