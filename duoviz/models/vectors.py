"""What is computed of single vectors, compiled."""

from functools import partial

import numpy as np

from duoviz.models.machine_code import compiled, larger

LOG2_E, LN_2_HIGH, LN_2_LOW = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
C0, C1, C2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
C3, C4, C5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
P0, P1, P2 = np.float32(9.999999404e-1), np.float32(6.931529641e-1), np.float32(2.401545346e-1)
P3, P4, P5 = np.float32(5.582360551e-2), np.float32(8.992584422e-3), np.float32(1.876232913e-3)
SMALLEST = np.float32(-126)
ONE, HALF, LEAST, MOST = np.float32(1), np.float32(0.5), np.float32(-87), np.float32(87)
# Logits looked at together: they stay in the nearest cache.
BLOCK = 1024


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


@partial(compiled, flags={"nnan", "nsz", "contract"})
def power_of_two(x):
    """2^x, float32, of x up to 0, to 2e-7 of it: half the work of `exponential`. A polynomial between whole powers."""
    x = max(x, SMALLEST)
    n = np.floor(x)
    f = x - n
    value = ((((P5 * f + P4) * f + P3) * f + P2) * f + P1) * f + P0
    return value * np.int32((np.int32(n) + 127) << 23).view(np.float32)


@partial(compiled, flags={"reassoc"})
def sum_of_powers(logits, highest, scale):
    """Σ exp(scale · (logit − highest)), of float64 logits as exact as they are."""
    total, in_twos = logits.dtype.type(0), np.float32(scale * LOG2_E)
    if logits.itemsize == 8:
        for place in range(len(logits)):
            total += np.exp(scale * (logits[place] - highest))
    else:
        for place in range(len(logits)):
            total += power_of_two(np.float32(in_twos * (logits[place] - highest)))
    return total


@partial(compiled, flags=())
def leaders(logits, count, scale):
    """The columns of the `count` largest of logits [n], int64, the largest first, of equals the first; and
    log Σ exp(scale · (logit − largest)), not finite where a logit is NaN or +inf, or all are -inf.

    scale: of the logits' type.
    """
    columns, found, highest, total = np.zeros(min(count, len(logits)), np.int64), 0, logits.dtype.type(-np.inf), 0.0
    for begin in range(0, len(logits), BLOCK):
        block, wrong, top = logits[begin : begin + BLOCK], False, logits[begin]
        for place in range(len(block)):
            wrong |= not block[place] < logits.dtype.type(np.inf)
        if wrong:
            return columns, np.nan
        for place in range(len(block)):
            top = larger(block[place], top)
        if top > highest:
            total, highest = total * np.exp(scale * (highest - top)), top
        if highest > -np.inf:
            total += sum_of_powers(block, highest, scale)
        if found < len(columns) or top > logits[columns[-1]]:
            for column in range(begin, begin + len(block)):
                if found < len(columns) or logits[column] > logits[columns[-1]]:
                    found = min(found + 1, len(columns))
                    place = found - 1
                    while place and logits[column] > logits[columns[place - 1]]:
                        columns[place] = columns[place - 1]
                        place -= 1
                    columns[place] = column
    return columns, np.log(total)


@compiled
def earlier(text, path):
    """Where the longest end of `path` that was followed by a token stood before in the text, both int64.

    Returns its length, 0 without any, and the places of the first, the last and the last but one token that followed,
    -1 where there is none.
    """
    longest, first, last, before = 0, -1, -1, -1
    for place in range(len(text) - 1, 0, -1):
        length = 0
        while length < min(place, len(path)) and text[place - 1 - length] == path[len(path) - 1 - length]:
            length += 1
        if length > longest:
            longest, last, before = length, place, -1
        elif length and length == longest and before < 0:
            before = place
        if length and length == longest:
            first = place
    return longest, first, last, before
