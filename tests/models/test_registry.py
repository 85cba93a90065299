"""Pairs by name."""

import pytest

from duoviz.errors import UserError
from duoviz.models.registry import PAIRS, Models, find_pair, needs_the_hub


def test_two_models_or_one_make_a_pair():
    assert find_pair("embedded") is PAIRS["embedded"]
    assert find_pair("a/b + embedded") == Models("a/b", "embedded")
    assert find_pair("a/b") == Models("a/b", "")


@pytest.mark.parametrize("name", ["nobody", "a + b + c", " + b", "a+b", ""])
def test_an_unknown_name_tells_what_can_be_named(name):
    with pytest.raises(UserError, match=r"embedded, embedded-as-360m, .*TARGET \+ DRAFT"):
        find_pair(name)


def test_which_pairs_need_the_hub(tmp_path):
    assert not needs_the_hub("embedded") and not needs_the_hub(f"{tmp_path} + {tmp_path}")
    assert not needs_the_hub("./here + ~/there")
    assert needs_the_hub("them/model") and not needs_the_hub(str(tmp_path))
    assert needs_the_hub("smollm2-1.7b") and needs_the_hub(f"{tmp_path} + them/draft")
