"""Attention, compiled: several queries share one read of the keys and values (arXiv:2305.13245)."""

import numpy as np

from duoviz.models.machine_code import compiled, larger
from duoviz.models.tiles import PANEL, TILE, tile
from duoviz.models.vectors import LOG2_E, normalise, power_of_two, rotate

# How many queries share one read of keys and values, at most.
TOGETHER = 3 * TILE


@compiled
def store(norms, cos, sin, shape, call, qkv, keys, values, head, turned):
    """Put a key head of the new rows, rotated to their positions, and its value head into the cache.

    norms: of the heads; keys [slots / PANEL, size, PANEL]; values [size / PANEL, slots, PANEL]; overwrites `turned`.
    """
    size, rows = shape.size, len(call.ids)
    start = call.mask.shape[1] - rows
    for row in range(rows):
        slot, place = start + row, (shape.heads + head) * size
        key = qkv[row, place : place + size]
        if len(norms):
            normalise(key, norms[shape.heads + head], shape.eps, key)
        rotate(key, cos[call.depths[row]], sin[call.depths[row]], turned)
        for column in range(size):
            keys[slot // PANEL, column, slot % PANEL] = turned[column]
            values[column // PANEL, slot, column % PANEL] = qkv[row, place + shape.kv_heads * size + column]


@compiled
def attend(norms, cos, sin, shape, call, qkv, keys, values, group, start, rows, first, last, scratch, mixed):
    """Attention of the queries [first, last), at most TOGETHER, into their columns of mixed [rows, …].

    They are those of the rows [start, start + rows), at most TILE, in each query head that shares key head `group`,
    head by head: keys and values are read once for all of them. scratch: a thread's scores and turned (see Buffers).
    """
    scores, (queries, result) = scratch
    size, shared, count = shape.size, shape.heads // shape.kv_heads, last - first
    # No row sees a slot behind its own.
    slots = call.mask.shape[1] - len(call.ids) + start + rows
    # Scores in base two: 2^x takes half the time of e^x.
    scale = LOG2_E / np.sqrt(np.float32(size))
    for number in range(count):
        head, row = group * shared + (first + number) // rows, start + (first + number) % rows
        query = qkv[row, head * size : (head + 1) * size]
        if len(norms):
            normalise(query, norms[head], shape.eps, query)
        depth = call.depths[row]
        rotate(query, cos[depth], sin[depth], queries[number])
        for place in range(size):
            queries[number, place] *= scale
    for panel in range(-(-slots // PANEL)):
        for number in range(0, count, TILE):
            tile(queries[:count], number, min(TILE, count - number), keys, panel, 1, scores)
    for number in range(count):
        mask, weights = call.mask[start + (first + number) % rows], scores[number]
        highest = np.float32(-np.inf)
        for slot in range(slots):
            highest = larger(highest, weights[slot] if mask[slot] else highest)
        for slot in range(slots):
            weight = power_of_two(weights[slot] - highest)
            weights[slot] = weight if mask[slot] else np.float32(0)
    for panel in range(len(values)):
        for number in range(0, count, TILE):
            tile(scores[:count], number, min(TILE, count - number), values[:, :slots], panel, 1, result)
    for number in range(0, count, 4):
        totals = in_order(scores[number : number + 4], slots)
        for other in range(number, min(number + 4, count)):
            head, row = group * shared + (first + other) // rows, start + (first + other) % rows
            for column in range(size):
                mixed[row, head * size + column] = result[other, column] / totals[other - number]


@compiled
def in_order(x, count):
    """The sums of the first `count` numbers of each of four rows, x [4, …]; a number that is 0 adds nothing."""
    # Four at once, for each sum waits for itself.
    one = two = three = four = np.float32(0)
    for place in range(count):
        one += x[0, place]
        two += x[1, place]
        three += x[2, place]
        four += x[3, place]
    return one, two, three, four
