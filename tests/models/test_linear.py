"""Matrix kernels against the plain product."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from duoviz.models import linear as products
from duoviz.models.linear import (
    ROW_COUNTS,
    FloatLinear,
    Int8Linear,
    candidates,
    fastest_padding,
    is_clear,
    quantise_rows,
    row_class,
    stored_padding,
    timed_padding,
)


def test_row_class():
    assert [row_class(rows) for rows in (1, 3, 8, 9, 33, 500)] == [1, 4, 8, 16, 32, 32]


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 13, 40])
def test_packed_is_the_same_product_in_the_same_precision(rows):
    weight, x = torch.randn(48, 64), torch.randn(rows, 64)
    exact = (x.double() @ weight.double().T).float()
    linear = FloatLinear(weight)
    assert torch.allclose(linear(x), exact, atol=1e-4)
    linear.pack()
    assert linear.weight is not weight and torch.allclose(linear(x), exact, atol=1e-4)


def test_more_rows_than_there_are_change_nothing():
    linear, x = FloatLinear(torch.randn(48, 64)), torch.randn(3, 64)
    plain = linear(x)
    for _ in range(2):
        assert torch.allclose(linear.product(x, 8), plain, atol=1e-4)
        linear.pack()


def test_the_choice_is_made_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    linears = [FloatLinear(torch.randn(32, 32)) for _ in range(2)]
    padding = fastest_padding(linears)
    assert set(padding) == set(ROW_COUNTS) and all(chosen >= rows for rows, chosen in padding.items())
    file = next(tmp_path.glob("padding-*.json"))
    for chosen in (4, 8):
        write_choice(file, chosen)
        assert fastest_padding(linears)[4] == chosen


def test_timing_stops_when_it_is_clear_and_takes_the_fastest(monkeypatch):
    asked = []

    def seconds(rows, linears):
        asked.append(rows)
        return {1: 0.9, 2: 0.5, 4: 0.51, 8: 1.2}[rows]

    monkeypatch.setattr(products, "time_of", seconds)
    assert timed_padding([]) == {1: 2, 2: 2, 4: 4, 8: 8, 16: 16, 32: 32}
    assert len(asked) == 3 * 4


def test_timing_goes_on_while_the_machine_is_restless(monkeypatch):
    restless = iter([1.0, 2.0] * 4)
    monkeypatch.setattr(products, "time_of", lambda rows, linears: next(restless) if rows == 1 else 1.2)
    timed_padding([])
    assert len(list(restless)) == 1


def test_clear_means_apart_or_alike():
    assert is_clear([[1.0, 1.1], [1.2, 1.3]]) and is_clear([[1.0, 1.3], [1.1, 1.2]])
    assert not is_clear([[1.0, 1.6], [1.5, 1.9]])


def test_another_process_that_measured_meanwhile_is_believed(tmp_path, monkeypatch):
    """What is stored is looked for again once the lock is held."""
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    answers = iter([None, {1: 8}])
    monkeypatch.setattr(products, "stored_padding", lambda file: next(answers))
    monkeypatch.setattr(products, "timed_padding", None)
    assert fastest_padding([FloatLinear(torch.randn(8, 8))]) == {1: 8}


def write_choice(file, chosen):
    """Put this in the place of the choice for 4 rows."""
    stored = json.loads(file.read_text())
    stored["rows"][2] = chosen
    file.write_text(json.dumps(stored))


def cut(file):
    file.write_bytes(file.read_bytes()[:40])


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(bytes(200)),
        lambda file: file.write_bytes(b"\xff\xfe{}"),
        *(
            partial(Path.write_text, data=text)
            for text in ("[]", "7", "null", "{}", '{"rows": 3}', '{"rows": [4]}', '{"rows": {"a": 1}}', "[" * 100_000)
        ),
        *(
            partial(write_choice, chosen=chosen)
            for chosen in (-8, 0, 2, 7, 16, 10**12, 8.0, 8.5, float("nan"), float("inf"), "8", None, True, [], {})
        ),
    ],
)
def test_a_damaged_choice_is_timed_anew_and_written_again(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    linears = [FloatLinear(torch.randn(8, 8))]
    fastest_padding(linears)
    file = next(tmp_path.glob("padding-*.json"))
    damage(file)
    assert stored_padding(file) is None
    padding = fastest_padding(linears)
    assert all(chosen in candidates(rows) for rows, chosen in padding.items())
    assert stored_padding(file) == padding
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_float64_stays_plain():
    linear = FloatLinear(torch.randn(8, 8, dtype=torch.float64))
    assert fastest_padding([linear]) == {} and not linear.packed


def test_int8_is_close_to_the_float_product():
    weight = torch.randn(64, 96)
    quantised, scale = quantise_rows(weight)
    assert (quantised.float() * scale[:, None] - weight).abs().max() <= scale.max() / 2 + 1e-6
    x = torch.randn(3, 96)
    exact, ours = x @ weight.T, Int8Linear(quantised, scale)(x.bfloat16()).float()
    assert (exact - ours).norm() / exact.norm() < 0.02
