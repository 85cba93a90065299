"""Matrix kernels against the plain product."""

import json

import pytest
import torch

from duoviz.models.linear import ROW_COUNTS, FloatLinear, Int8Linear, Kernel, fastest_kernels, quantise_rows, row_class


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
    stored = json.loads(file.read_text())
    stored["kernels"][3] = [False, 77]
    file.write_text(json.dumps(stored))
    assert fastest_kernels(linears)[8] == Kernel(False, 77)
    file.write_text("{")
    assert set(fastest_kernels(linears)) == set(ROW_COUNTS)


def test_float64_has_only_the_plain_kernel():
    assert fastest_kernels([FloatLinear(torch.randn(8, 8, dtype=torch.float64))]) == {}


def test_int8_is_close_to_the_float_product():
    weight = torch.randn(64, 96)
    quantised, scale = quantise_rows(weight)
    assert (quantised.float() * scale[:, None] - weight).abs().max() <= scale.max() / 2 + 1e-6
    x = torch.randn(3, 96)
    exact, ours = x @ weight.T, Int8Linear(quantised, scale)(x.bfloat16()).float()
    assert (exact - ours).norm() / exact.norm() < 0.02
