"""What a visitor is told while the models load."""

import pytest

from duoviz.web.estimate import progress_text


@pytest.mark.parametrize(
    "fraction, seconds, told",
    [
        (0.0, 0.0, "Reading (0%)"),
        (0.02, 3.0, "Reading (2%)"),
        (0.25, 5.0, "Reading (25%, about 15 s left)"),
        (0.9, 18.0, "Reading (90%, about 2 s left)"),
        (1.0, 18.0, "Reading (100%, about 1 s left)"),
    ],
)
def test_the_rest_takes_as_long_for_its_share_as_what_is_done(fraction, seconds, told):
    assert progress_text("Reading", fraction, seconds) == told
