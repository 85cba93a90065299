"""What a forward computes of single vectors, compiled."""

from functools import partial

import numpy as np

from duoviz.models.machine_code import compiled

LOG2_E, LN_2_HIGH, LN_2_LOW = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
C0, C1, C2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
C3, C4, C5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
ONE, HALF, LEAST, MOST = np.float32(1), np.float32(0.5), np.float32(-87), np.float32(87)


@compiled
def exponential(x):
    """e^x, float32, to 2 ulp; vectorised. After Cephes: x = n ln 2 + r, a polynomial for e^r, 2ⁿ by the exponent."""
    x = min(max(x, LEAST), MOST)
    n = np.floor(x * LOG2_E + HALF)
    r = x - n * LN_2_HIGH - n * LN_2_LOW
    value = (((((C0 * r + C1) * r + C2) * r + C3) * r + C4) * r + C5) * (r * r) + r + ONE
    return value * np.int32((np.int32(n) + 127) << 23).view(np.float32)


@partial(compiled, flags={"reassoc"})
def mean_square(x):
    """The mean of x², x float32 [n]; the compiler chooses the sum's order."""
    total = np.float32(0)
    for value in x:
        total += value * value
    return total / np.float32(len(x))


@compiled
def normalise(x, weight, eps, y):
    """RMS norm (arXiv:1910.07467, eq. 4): y = x / √(mean x² + eps) · weight, all float32 of one length."""
    factor = ONE / np.sqrt(mean_square(x) + eps)
    for column in range(len(weight)):
        y[column] = x[column] * factor * weight[column]


@compiled
def rotate(x, cos, sin, y):
    """Rotary embedding (arXiv:2104.09864) of a head, x, y [size]; cos, sin [size / 2]; pairs are half a head apart."""
    half = len(cos)
    for place in range(half):
        low, high = x[place], x[place + half]
        y[place] = low * cos[place] - high * sin[place]
        y[place + half] = high * cos[place] + low * sin[place]
