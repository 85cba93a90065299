"""The innermost loop of every product: a few rows by one panel of a matrix, in the processor's vector registers."""

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, imputils

from duoviz.models.machine_code import intrinsic

# A matrix [out, in] is stored in panels [out / PANEL, in, PANEL, 1], in int8 [out / PANEL, in / 2, PANEL, 2], in the
# order in which a product reads it; one instruction multiplies and adds two int8 numbers. The sums of TILE rows by a
# panel fit into the registers. With more than ALONE rows a product prefetches the next panel; with fewer the hardware
# does it better. Up to PAIRED rows it reads two panels at once: two streams from memory are faster than one. A tile of
# up to HINTED rows prefetches float32 panels AHEAD bytes before it reads them, NEAR as in `prefetch`. AMD's processors
# take them as used once: they leave the caches to the draft. Intel's read memory at half the speed then.
FEATURES = binding.get_host_cpu_features()
PANEL, TILE, ALONE = (32, 8, 8) if FEATURES.get("avx512f") else (16, 4, 2)
PAIRED, AHEAD = 2, 2048
HINTED, NEAR = (4, 0) if FEATURES.get("sse4a") else (TILE, 3)

ADDRESS, LANE, SHORT, BYTE, NUMBER = *(ir.IntType(bits) for bits in (64, 32, 16, 8)), ir.FloatType()
NUMBERS, LANES = ir.VectorType(NUMBER, PANEL), ir.VectorType(LANE, PANEL)
BYTES, SHORTS = ir.VectorType(BYTE, 2 * PANEL), ir.VectorType(SHORT, 2 * PANEL)
# Bytes that memory hands over at once.
LINE = 64
# The processor's instructions for `add_pairs`, the widest first: the feature, its name, how many numbers it takes.
INSTRUCTIONS = (("avx512bw", "llvm.x86.avx512.pmaddw.d.512", 32), ("avx2", "llvm.x86.avx2.pmadd.wd", 16))


@intrinsic
def tile(typing, x, row, rows, panels, panel, together, y):
    """y[row + r, PANEL · panel + c] = Σ x[row + r, k] · panel[k, c], r < rows ≤ TILE, each sum in k's order.

    together: 1, or 2 for the next panel as well, with at most PAIRED rows. panels: float32, or int8 with x in int16,
    whose sums have to fit into 32 bits; y float32; the last axes contiguous. Where x has more than ALONE rows, each
    tile of them fetches its share of the next panel, so memory never waits for the sums.
    """

    def generate(context, builder, signature, arguments):
        x, row, rows, panels, panel, together, y = (
            context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        )
        x_step, panel_step, y_step = (builder.extract_value(array.strides, 0) for array in (x, panels, y))
        x_place, panel_place, y_place = (builder.ptrtoint(array.data, ADDRESS) for array in (x, panels, y))
        inputs = builder.add(x_place, builder.mul(row, x_step))
        weights = builder.add(panel_place, builder.mul(panel, panel_step))
        results = builder.add(y_place, builder.mul(row, y_step))
        results = builder.add(results, builder.mul(panel, ADDRESS(4 * PANEL)))
        stored = BYTES if signature.args[3].dtype == types.int8 else NUMBERS
        terms, all_rows = builder.extract_value(panels.shape, 1), builder.extract_value(x.shape, 0)
        share = builder.sdiv(builder.mul(panel_step, row), all_rows)
        stride = builder.sdiv(ADDRESS(TILE * size_of(stored)), all_rows)
        alone = builder.icmp_signed("<=", all_rows, ADDRESS(ALONE))
        following = builder.select(alone, weights, builder.add(weights, builder.add(panel_step, share)))
        ahead = following, builder.select(alone, ADDRESS(0), stride)
        both = [weights, builder.add(weights, panel_step)]
        end = builder.append_basic_block()
        choice = builder.switch(builder.add(rows, builder.mul(together, ADDRESS(TILE))), end)
        for panels_read, most in ((1, TILE), (2, PAIRED)):
            for count in range(1, most + 1):
                block = builder.append_basic_block()
                choice.add_case(ADDRESS(count + panels_read * TILE), block)
                builder.position_at_end(block)
                sums = add_up(builder, count, inputs, x_step, both[:panels_read], stored, terms, ahead)
                for number, total in enumerate(sums):
                    place = builder.add(results, builder.mul(y_step, ADDRESS(number % count)))
                    place = builder.add(place, ADDRESS(number // count * 4 * PANEL))
                    total = builder.sitofp(total, NUMBERS) if stored == BYTES else total
                    builder.store(total, builder.inttoptr(place, NUMBERS.as_pointer()), align=4)
                builder.branch(end)
        builder.position_at_end(end)
        return context.get_dummy_value()

    return types.void(x, types.int64, types.int64, panels, types.int64, types.int64, y), generate


@intrinsic
def for_panels(typing, panels, x, levels):
    """What `tile` multiplies panels with: x, float32, or with int8 panels its levels, int16."""
    chosen = 2 if panels.dtype == types.int8 else 1

    def generate(context, builder, signature, arguments):
        return imputils.impl_ret_borrowed(context, builder, signature.return_type, arguments[chosen])

    return (panels, x, levels)[chosen](panels, x, levels), generate


def add_up(builder, count, inputs, step, places, stored, terms, ahead):
    """Code for the sums of `count` rows, which are at `inputs` and then `step` bytes apart; returns those sums.

    places: where the panels are, as `stored`; the sums are those of the first one, then of the next. terms: how many
    numbers a row has; ahead: see `fetch`.
    """
    before, loop, after = builder.block, builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)
    builder.position_at_end(loop)
    term = builder.phi(ADDRESS)
    kind, number_kind = (LANES, LANE) if stored == BYTES else (NUMBERS, NUMBER)
    sums = [builder.phi(kind) for _ in range(len(places) * count)]
    size, weights, values = size_of(stored), [], []
    for panel in places:
        place = builder.add(panel, builder.mul(term, ADDRESS(size)))
        weight = builder.load(builder.inttoptr(place, stored.as_pointer()), align=size // PANEL)
        weights.append(builder.sext(weight, SHORTS) if stored == BYTES else weight)
        for line in range(AHEAD, AHEAD + size, LINE) if stored == NUMBERS and count <= HINTED else ():
            prefetch(builder, builder.add(place, ADDRESS(line)), near=NEAR)
    fetch(builder, term, terms, ahead)
    for number in range(count):
        # One number of 32 bits, or two of 16.
        offset = builder.add(builder.mul(step, ADDRESS(number)), builder.mul(term, ADDRESS(4)))
        value = builder.load(builder.inttoptr(builder.add(inputs, offset), number_kind.as_pointer()), align=4)
        values.append(in_all_lanes(builder, value))
    add = add_pairs if stored == BYTES else add_product
    larger = [
        add(builder, values[number % count], weights[number // count], total) for number, total in enumerate(sums)
    ]
    following = builder.add(term, ADDRESS(1))
    builder.cbranch(builder.icmp_signed("<", following, terms), loop, after)
    for phi, new in zip([term, *sums], [following, *larger], strict=True):
        phi.add_incoming(ir.Constant(phi.type, 0 if phi is term else None), before)
        phi.add_incoming(new, loop)
    builder.position_at_end(after)
    return larger


def add_product(builder, value, weight, total):
    """Code for total + value · weight, NUMBERS."""
    kind = ir.FunctionType(NUMBERS, [NUMBERS] * 3)
    add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{PANEL}f32")
    return builder.call(add, [value, weight, total])


def add_pairs(builder, pair, weights, total):
    """Code for total + pair · weights, LANES: two numbers of 16 bits in each of `pair`, and two SHORTS for each."""
    pair, parts = builder.bitcast(pair, SHORTS), []
    name, wide = next(((name, wide) for feature, name, wide in INSTRUCTIONS if FEATURES.get(feature)), ("", 2 * PANEL))
    for start in range(0, 2 * PANEL, wide):
        factors = [some_lanes(builder, vector, range(start, start + wide)) for vector in (pair, weights)]
        if name:
            kind = ir.FunctionType(ir.VectorType(LANE, wide // 2), [factors[0].type] * 2)
            parts.append(builder.call(cgutils.get_or_insert_function(builder.module, kind, name), factors))
        else:
            product = builder.mul(*(builder.sext(factor, ir.VectorType(LANE, wide)) for factor in factors))
            parts.append(builder.add(*(some_lanes(builder, product, range(first, wide, 2)) for first in (0, 1))))
    while len(parts) > 1:
        first, second, *others = parts
        lanes = ir.Constant(ir.VectorType(LANE, 2 * first.type.count), list(range(2 * first.type.count)))
        parts = [*others, builder.shuffle_vector(first, second, lanes)]
    return builder.add(total, parts[0])


def fetch(builder, term, terms, ahead):
    """Code that brings near what is needed next.

    ahead: from where on, and how many bytes a term; first halves and second halves in turn (see PAIRED).
    """
    (begin, stride), one = ahead, ADDRESS(1)
    step = builder.add(builder.lshr(term, one), builder.mul(builder.and_(term, one), builder.lshr(terms, one)))
    prefetch(builder, builder.add(begin, builder.mul(step, stride)), near=3)


def prefetch(builder, address, *, near):
    """Code that brings a line of memory into a cache; near: 3 is the nearest, and 0 says that it is used once."""
    place = builder.inttoptr(address, BYTE.as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [place.type, LANE, LANE, LANE])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # To read, and of data.
    builder.call(function, [place, LANE(0), LANE(near), LANE(1)])


def size_of(stored):
    """How many bytes of a panel are read at once."""
    return stored.count * (1 if stored == BYTES else 4)


def in_all_lanes(builder, number):
    """Code for a vector of one number of 32 bits."""
    nothing = ir.Constant(ir.VectorType(number.type, PANEL), ir.Undefined)
    return some_lanes(builder, builder.insert_element(nothing, number, LANE(0)), [0] * PANEL)


def some_lanes(builder, vector, lanes):
    """Code for the vector of these lanes of another."""
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(LANE, len(lanes)), list(lanes)))
