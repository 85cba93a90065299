"""Matrix kernels against the plain product."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from duoviz.models.linear import (
    ROW_COUNTS,
    FloatLinear,
    Int8Linear,
    Kernel,
    candidates,
    fastest_kernels,
    quantise_rows,
    row_class,
    stored_kernels,
)


def test_row_class():
    assert [row_class(rows) for rows in (1, 3, 8, 9, 33, 500)] == [1, 4, 8, 16, 32, 32]


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 13, 40])
def test_packed_is_the_same_product_in_the_same_precision(rows):
    linear = FloatLinear(torch.randn(48, 64))
    linear.pack()
    x = torch.randn(rows, 64)
    exact = x.double() @ linear.weight.double().T
    assert torch.allclose(linear.packed_product(x).double(), exact, atol=1e-4)
    assert torch.allclose(linear.plain_product(x).double(), exact, atol=1e-4)


def test_fewer_rows_than_a_kernel_wants_change_nothing():
    linear = FloatLinear(torch.randn(48, 64))
    linear.pack()
    x = torch.randn(3, 64)
    for kernel in (Kernel(True, 8), Kernel(False, 4)):
        assert torch.allclose(linear.product(x, kernel), linear.plain_product(x), atol=1e-4)


def test_the_choice_is_made_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    linears = [FloatLinear(torch.randn(32, 32)) for _ in range(2)]
    kernels = fastest_kernels(linears)
    assert set(kernels) == set(ROW_COUNTS) and all(kernel.rows >= rows for rows, kernel in kernels.items())
    file = next(tmp_path.glob("kernels-*.json"))
    for packed in (False, True):
        write_kernel(file, [packed, 8])
        assert fastest_kernels(linears)[8] == Kernel(packed, 8)


def write_kernel(file, kernel):
    """Put this kernel in the place of the one for 8 rows."""
    stored = json.loads(file.read_text())
    stored["kernels"][3] = kernel
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
            for text in ("[]", "7", "null", "{}", '{"kernels": 3}', '{"kernels": [[true, 4]]}', '{"kernels": {"a": 1}}')
        ),
        *(
            partial(write_kernel, kernel=kernel)
            for kernel in (
                *([True, rows] for rows in (-8, 0, 4, 7, 16, 10**12, 8.5, float("nan"), float("inf"), "8", None)),
                *([False, rows] for rows in (4, 16, 77)),
                *([], [True], [True, 8, 8], ["yes", 8], 8, None, {}),
            )
        ),
    ],
)
def test_a_damaged_choice_is_timed_anew_and_written_again(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    linears = [FloatLinear(torch.randn(8, 8))]
    fastest_kernels(linears)
    file = next(tmp_path.glob("kernels-*.json"))
    damage(file)
    assert stored_kernels(file) is None
    kernels = fastest_kernels(linears)
    assert all(kernel in candidates(rows) for rows, kernel in kernels.items())
    assert stored_kernels(file) == kernels
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_float64_has_only_the_plain_kernel():
    assert fastest_kernels([FloatLinear(torch.randn(8, 8, dtype=torch.float64))]) == {}


def test_int8_is_close_to_the_float_product():
    weight = torch.randn(64, 96)
    quantised, scale = quantise_rows(weight)
    assert (quantised.float() * scale[:, None] - weight).abs().max() <= scale.max() / 2 + 1e-6
    x = torch.randn(3, 96)
    exact, ours = x @ weight.T, Int8Linear(quantised, scale)(x.bfloat16()).float()
    assert (exact - ours).norm() / exact.norm() < 0.02
