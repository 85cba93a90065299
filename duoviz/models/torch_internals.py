"""Private parts of torch that the hot path calls; checked with torch 2.13.0.

torch has public names for none of them: a float32 matrix that oneDNN has laid out in its own blocks, which
`nn.Linear` gets only by way of a compiled or frozen module, and int8 weights with bfloat16 activations.
"""

import torch
from torch import Tensor


def packed(weight: Tensor) -> Tensor:
    """A float32 weight [out, in] in the blocks that oneDNN multiplies fastest by some 8 rows; its content is opaque."""
    return torch.ops.mkldnn._reorder_linear_weight(weight, 8)


def packed_product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x Wᵀ + b, of a packed weight."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def int8_product(x: Tensor, weight: Tensor, scale: Tensor) -> Tensor:
    """x (W·scale)ᵀ of bfloat16 x, int8 W [out, in] and a bfloat16 scale for each of its rows."""
    return torch._weight_int8pack_mm(x, weight, scale)
