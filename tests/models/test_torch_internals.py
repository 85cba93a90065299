"""The private parts of torch that the project touches are where it looks for them, and do what it takes them to do."""

import pytest
import torch

from duoviz.models import torch_internals
from duoviz.models.linear import FloatLinear, can_pack

MOVED = "torch has no {} any more: see torch_internals, and choose another kernel for this version of torch"


@pytest.mark.parametrize(
    "owner, name",
    [
        (torch.ops.mkldnn, "_reorder_linear_weight"),
        (torch.ops.mkldnn, "_linear_pointwise"),
        (torch, "_weight_int8pack_mm"),
    ],
)
def test_they_are_there(owner, name):
    if owner is torch.ops.mkldnn and not torch.backends.mkldnn.is_available():
        pytest.skip("this torch has no oneDNN")
    assert hasattr(owner, name), MOVED.format(name)


def test_products():
    x, weight, bias = torch.randn(3, 64), torch.randn(32, 64), torch.randn(32)
    if can_pack(FloatLinear(weight)):
        product = torch_internals.packed_product(x, torch_internals.packed(weight), bias)
        torch.testing.assert_close(product, x @ weight.T + bias, rtol=1e-4, atol=1e-4)
    whole, scale = torch.randint(-127, 128, (32, 64), dtype=torch.int8), torch.rand(32, dtype=torch.bfloat16)
    product = torch_internals.int8_product(x.bfloat16(), whole, scale)
    expected = x.bfloat16().float() @ (whole.float() * scale.float()[:, None]).T
    torch.testing.assert_close(product.float(), expected, rtol=0.02, atol=2.0)
