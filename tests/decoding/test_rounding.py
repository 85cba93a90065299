"""δ: what rounding does to a logit."""

import pytest
import torch

from duoviz.decoding.rounding import LARGEST_DELTA, delta_of, readings
from tests.weights import decoder, tiny_weights


@pytest.mark.parametrize("context, count", [(256, 16), (24, 12), (5, 2)])
def test_the_same_text_is_read_at_every_row_count(context, count):
    model = decoder(*tiny_weights(0, context=context))
    logits = list(readings(model, [3, 5, 7]))
    assert [reading.shape for reading in logits] == [(count, 40)] * 5 and model.length == 0
    # float64 rounds too, but far below any gap that a trace can hold.
    assert 0 <= delta_of(logits, "float64") < 1e-9


def test_delta_is_four_times_the_largest_difference_and_bounded_for_float32():
    logits = torch.zeros(16, 40)
    other = logits.clone()
    other[3, 4] = 1e-5
    assert abs(delta_of([logits, other], "float32") - 4e-5) < 1e-9
    other[3, 4] = 0.1
    assert delta_of([logits, other], "float32") == LARGEST_DELTA
    for precision in ("bfloat16", "float16"):
        assert abs(delta_of([logits, other], precision) - 0.4) < 1e-6
