"""Vanilla decoding: one token a target forward."""

from duoviz.decoding.drafter import Drafter
from duoviz.decoding.method import Method
from duoviz.decoding.theory import alone

# Autoregressive decoding, the baseline that every other method must equal token for token, proposes nothing.
VANILLA = Method(
    id="vanilla",
    title="Vanilla",
    name="Vanilla decoding",
    about="Vanilla decoding: one token per forward pass. The baseline: every other method must reproduce its text.",
    drafter=lambda plan: Drafter(),
    settings=("cores",),
    expected=alone,
)
