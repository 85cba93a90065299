"""A forward of the Llama family on a processor, compiled for the machine it runs on.

Every sum is taken in one order, whatever the number of rows, of threads, or the tree around a token: a token's logits
have the same bits alone, in a chain and in a tree. So speculative decoding is exact here, not exact up to rounding.
"""

from typing import NamedTuple

import numpy as np

from duoviz.models.attention import TOGETHER, attend, store
from duoviz.models.barrier import FIRST, JOINED, gather, join, wait_for_all
from duoviz.models.machine_code import compiled, larger
from duoviz.models.tiles import PAIRED, PANEL, TILE, for_panels, tile
from duoviz.models.vectors import ONE, exponential, normalise

Array = np.ndarray


class Weights(NamedTuple):
    """A model's weights; those of the layers are stacked.

    Matrices are float32 or int8 panels (see `tiles`) with a scale and a bias, [layers, columns] or empty. qkv: query,
    key and value heads. gate_up: panels of gate and up in turn. embedding: the head itself where they are tied. widen:
    to the model's width. head_norms: [layers, query and key heads, head size]. cos, sin: [positions, head size / 2].
    """

    embedding: Array
    embedding_scale: Array
    widen: Array
    widen_scale: Array
    attention_norm: Array
    qkv: Array
    qkv_scale: Array
    qkv_bias: Array
    head_norms: Array
    out: Array
    out_scale: Array
    out_bias: Array
    mlp_norm: Array
    gate_up: Array
    gate_up_scale: Array
    gate_up_bias: Array
    down: Array
    down_scale: Array
    down_bias: Array
    norm: Array
    head: Array
    head_scale: Array
    cos: Array
    sin: Array


class Shape(NamedTuple):
    """heads, kv_heads: numbers of query and of key heads; size: of a head."""

    heads: int
    kv_heads: int
    size: int
    eps: np.float32


class Cache(NamedTuple):
    """keys [layers, kv heads, slots / PANEL, size, PANEL]; values [layers, kv heads, size / PANEL, slots, PANEL]."""

    keys: Array
    values: Array


class Buffers(NamedTuple):
    """A forward's scratch, float32. x: the residual stream, [rows, width]; y: a product before it is added; wide:
    query, key and value, or gate and up; mixed: attention's result; inner: between up and down. For each thread, own
    [rows, width]: normalised x; and for TOGETHER queries scores [.., slots], and turned [2, .., head size]: the queries
    themselves and attention's result."""

    x: Array
    y: Array
    wide: Array
    mixed: Array
    inner: Array
    own: Array
    scores: Array
    turned: Array


class Call(NamedTuple):
    """ids, depths: int64 [rows]; mask: bool [rows, slots], whose last slots are the rows' own; logit_rows: int64."""

    ids: Array
    depths: Array
    mask: Array
    logit_rows: Array


@compiled
def own_range(count, rank, threads):
    """The range [first, last) of `count` things that a thread does."""
    return count * rank // threads, count * (rank + 1) // threads


@compiled
def round_off(x, most, levels):
    """x ≈ step · levels, int16 from -most to most, x float32; returns the step."""
    largest = np.float32(1e-30)
    for place in range(len(x)):
        largest = larger(largest, abs(x[place]))
    for place in range(len(x)):
        levels[place] = np.int16(np.rint(x[place] * (most / largest)))
    return largest / most


@compiled
def product(x, panels, scale, bias, y, first, last):
    """y = x Wᵀ · scale + bias in the columns of the panels [first, last); x [rows, in]; scale and bias [out] or empty.

    With int8 panels (see `tiles`) each row of x is rounded to 2·most + 1 levels: every sum is a whole number below 2³¹.
    """
    rows, small = len(x), panels.shape[3] == 2
    most = np.float32(min(32767, (2**31 - 1) // (2 * 128 * panels.shape[1])))
    levels = np.empty((rows, x.shape[1] + x.shape[1] % 2 if small else 0), np.int16)
    steps = np.ones(rows, np.float32)
    if small:
        for row in range(rows):
            steps[row] = round_off(x[row], most, levels[row])
    factors, together = for_panels(panels, x, levels), 2 if rows <= PAIRED else 1
    for panel in range(first, last, together):
        read = min(together, last - panel)
        for row in range(0, rows, TILE):
            tile(factors, row, min(TILE, rows - row), panels, panel, read, y)
        begin, end = panel * PANEL, (panel + read) * PANEL
        for row in range(rows):
            if len(scale):
                for column in range(begin, end):
                    y[row, column] *= scale[column] * steps[row]
            if len(bias):
                for column in range(begin, end):
                    y[row, column] += bias[column]


@compiled
def add_product(x, panels, scale, bias, y, total, first, last):
    """total [rows, out] += x Wᵀ · scale + bias, in the columns of these panels; y takes the product (see there)."""
    product(x, panels, scale, bias, y, first, last)
    end = min(last * PANEL, total.shape[1])
    for row in range(len(x)):
        for column in range(first * PANEL, end):
            total[row, column] += y[row, column]


@compiled
def look_up(panels, scales, ids, y):
    """Each id's row of the embedding table, in panels: ids int64 [rows], y float32 [rows, width of the table]."""
    for row in range(len(ids)):
        panel, column = ids[row] // PANEL, ids[row] % PANEL
        scale, terms = scales[ids[row]] if len(scales) else ONE, panels.shape[3]
        for place in range(y.shape[1]):
            y[row, place] = np.float32(panels[panel, place // terms, column, place % terms]) * scale


@compiled
def embed(embedding, embedding_scale, widen, widen_scale, ids, own, x, y, rank, threads):
    """One thread's part of x [rows, width] for these ids, widened where the table is narrower; overwrites own and y."""
    if len(widen):
        narrow = own[:, : widen.shape[1] * widen.shape[3]]
        look_up(embedding, embedding_scale, ids, narrow)
        first, last = own_range(len(widen), rank, threads)
        product(narrow, widen, widen_scale, x[0, :0], y, first, last)
        for row in range(len(ids)):
            for column in range(first * PANEL, min(last * PANEL, x.shape[1])):
                x[row, column] = y[row, column]
    elif rank == 0:
        look_up(embedding, embedding_scale, ids, x)


@compiled
def gate(gate_up, inner, first, last):
    """SwiGLU (arXiv:2002.05202): inner [rows, out] = silu(gate) · up, in the panel pairs `first` to before `last`."""
    for row in range(len(gate_up)):
        for pair in range(first, last):
            for column in range(PANEL):
                g, up = gate_up[row, 2 * pair * PANEL + column], gate_up[row, (2 * pair + 1) * PANEL + column]
                inner[row, pair * PANEL + column] = g / (ONE + exponential(-g)) * up


@compiled
def run(model, shape, cache, work, call, busy, logits, meeting, rank, threads):
    """One thread's part of a forward, to logits [logit_rows, columns of the head].

    The thread of rank `threads` joins late, once busy[0] is 0; meeting: see `barrier`.
    """
    layers, first_layer, now, barrier = len(model.qkv), 0, threads, meeting[FIRST:]
    if rank == threads:
        first_layer, now = join(meeting, busy), threads + 1
        if first_layer > layers:
            return
    rows, none, cos, sin = len(call.ids), model.norm[:0], model.cos, model.sin
    x, own, scratch = work.x[:rows], work.own[rank][:rows], (work.scores[rank], work.turned[rank])
    wide, inner, mixed, y = work.wide[:rows], work.inner[:rows], work.mixed[:rows], work.y[:rows]
    if rank < threads:
        embedding, widen = (model.embedding, model.embedding_scale), (model.widen, model.widen_scale)
        embed(*embedding, *widen, call.ids, own, x, y, rank, threads)
    for layer in range(first_layer, layers):
        keys, values, norms = cache.keys[layer], cache.values[layer], model.head_norms[layer]
        now = gather(meeting, rank, threads, now, layer)
        barrier = meeting[now - threads :]
        for row in range(rows):
            normalise(x[row], model.attention_norm[layer], shape.eps, own[row])
        first, last = own_range(model.qkv.shape[1], rank, now)
        product(own, model.qkv[layer], model.qkv_scale[layer], model.qkv_bias[layer], wide, first, last)
        wait_for_all(barrier, now)
        first, last = own_range(shape.kv_heads, rank, now)
        for head in range(first, last):
            store(norms, cos, sin, shape, call, wide, keys[head], values[head], head, scratch[1][0, 0])
        wait_for_all(barrier, now)
        # In the last layer, rows before the logit rows give their keys and values only.
        low = 0
        if layer == layers - 1:
            low = call.logit_rows.min() if len(call.logit_rows) else rows
        # Queries are numbered by key head, tile of rows, query head, row; one call stays in the first two. Of two
        # neighbours that share a key head one goes backwards, so that both read it at the same time, from memory once.
        shared, every, forwards = shape.heads // shape.kv_heads, rows - low, rank % 2 == 1
        first, last = own_range(shape.heads * every, rank, now)
        while first < last:
            group, place = divmod(first if forwards else last - 1, shared * every)
            start = low + place // (shared * TILE) * TILE
            height, begin = min(TILE, rows - start), group * shared * every + (start - low) * shared
            query = first if forwards else max(first, begin, last - TOGETHER)
            end = min(last, begin + shared * height, first + TOGETHER) if forwards else last
            head, part = (keys[group], values[group], group), (query - begin, end - begin)
            attend(norms, cos, sin, shape, call, wide, *head, start, height, *part, scratch, mixed)
            first, last = (end, last) if forwards else (first, query)
        wait_for_all(barrier, now)
        first, last = own_range(model.out.shape[1], rank, now)
        scale, bias = model.out_scale[layer], model.out_bias[layer]
        add_product(mixed[low:], model.out[layer], scale, bias, y[low:], x[low:], first, last)
        wait_for_all(barrier, now)
        for row in range(low, rows):
            normalise(x[row], model.mlp_norm[layer], shape.eps, own[row])
        first, last = own_range(model.gate_up.shape[1] // 2, rank, now)
        scale, bias = model.gate_up_scale[layer], model.gate_up_bias[layer]
        product(own[low:], model.gate_up[layer], scale, bias, wide[low:], 2 * first, 2 * last)
        gate(wide[low:], inner[low:], first, last)
        wait_for_all(barrier, now)
        first, last = own_range(model.down.shape[1], rank, now)
        scale, bias = model.down_scale[layer], model.down_bias[layer]
        add_product(inner[low:], model.down[layer], scale, bias, y[low:], x[low:], first, last)
    now = gather(meeting, rank, threads, now, layers)
    barrier = meeting[now - threads :]
    for number, row in enumerate(call.logit_rows):
        normalise(x[row], model.norm, shape.eps, own[number])
    first, last = own_range(len(model.head), rank, now)
    product(own[: len(call.logit_rows)], model.head, model.head_scale, none, logits, first, last)
    # Who called may read the logits once its own part is done.
    wait_for_all(barrier, now)
    if rank == 0 and now == threads:
        meeting[JOINED] = layers + 2
