"""Vanilla decoding: one token a target forward."""

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.method import Method
from duoviz.decoding.theory import ALONE

# Autoregressive decoding, the baseline that every other method must equal token for token, proposes nothing.
VANILLA = Method(
    id="vanilla",
    title="Vanilla",
    name="Vanilla decoding",
    about="The target writes one token a forward: the baseline, whose very text every other method must write.",
    drafter=lambda plan: Drafter(),
    settings=("cores",),
    expected=ALONE,
    colour="#8a93a3",
    shape="",
    mark="circle",
)
