"""The innermost loop of every product: a few rows by one panel of a matrix, in the processor's vector registers."""

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils

from duoviz.models.machine_code import intrinsic

# A matrix [out, in] is kept in panels [out / PANEL, in, PANEL]: what a product reads next stands next in memory. The
# sums of TILE rows by a panel fit into the registers, and are enough to keep the processor adding. With more than ALONE
# rows a product fetches the next panel itself; with fewer the processor does it better.
PANEL, TILE, ALONE = (32, 8, 8) if binding.get_host_cpu_features().get("avx512f") else (16, 4, 2)

ADDRESS, LANE, NUMBER, BYTE = ir.IntType(64), ir.IntType(32), ir.FloatType(), ir.IntType(8)
NUMBERS, BYTES = ir.VectorType(NUMBER, PANEL), ir.VectorType(BYTE, PANEL)


@intrinsic
def tile(typing, x, row, rows, panels, panel, y):
    """y[row + r, PANEL · panel + c] = Σ x[row + r, k] · panels[panel, k, c], r < rows ≤ TILE, each sum in k's order.

    x, y: float32, the last axis contiguous; panels: float32 or int8 [panels, in, PANEL], each contiguous. Where x has
    more than ALONE rows, each tile of them fetches its share of the next panel, so memory never waits for the sums.
    """

    def generate(context, builder, signature, arguments):
        x, row, rows, panels, panel, y = (
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
        end = builder.append_basic_block()
        choice = builder.switch(rows, end)
        for count in range(1, TILE + 1):
            block = builder.append_basic_block()
            choice.add_case(ADDRESS(count), block)
            builder.position_at_end(block)
            for number, total in enumerate(add_up(builder, count, inputs, x_step, weights, stored, terms, ahead)):
                place = builder.add(results, builder.mul(y_step, ADDRESS(number)))
                builder.store(total, builder.inttoptr(place, NUMBERS.as_pointer()), align=4)
            builder.branch(end)
        builder.position_at_end(end)
        return context.get_dummy_value()

    return types.void(x, types.int64, types.int64, panels, types.int64, y), generate


def add_up(builder, count, inputs, step, weights, stored, terms, ahead):
    """Code for the sums of `count` rows, which are at `inputs` and then `step` bytes apart; returns those sums.

    weights: where a panel is, as `stored`; terms: how many numbers a row has; ahead: what to fetch meanwhile, from
    where on and how many bytes a term.
    """
    before, loop, after = builder.block, builder.append_basic_block(), builder.append_basic_block()
    builder.branch(loop)
    builder.position_at_end(loop)
    term = builder.phi(ADDRESS)
    sums = [builder.phi(NUMBERS) for _ in range(count)]
    size = size_of(stored)
    place = builder.add(weights, builder.mul(term, ADDRESS(size)))
    weight = builder.load(builder.inttoptr(place, stored.as_pointer()), align=size // PANEL)
    if stored == BYTES:
        weight = builder.sitofp(weight, NUMBERS)
    fetch = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), LANE, LANE, LANE]),
        "llvm.prefetch.p0",
    )
    begin, stride = ahead
    wanted = builder.inttoptr(builder.add(begin, builder.mul(term, stride)), BYTE.as_pointer())
    # To read, into the nearest cache, of data.
    builder.call(fetch, [wanted, LANE(0), LANE(3), LANE(1)])
    add = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(NUMBERS, [NUMBERS] * 3), f"llvm.fmuladd.v{PANEL}f32"
    )
    larger = []
    for number, total in enumerate(sums):
        offset = builder.add(builder.mul(step, ADDRESS(number)), builder.mul(term, ADDRESS(4)))
        value = builder.load(builder.inttoptr(builder.add(inputs, offset), NUMBER.as_pointer()), align=4)
        larger.append(builder.call(add, [in_all_lanes(builder, value), weight, total]))
    following = builder.add(term, ADDRESS(1))
    builder.cbranch(builder.icmp_signed("<", following, terms), loop, after)
    for phi, new in zip([term, *sums], [following, *larger], strict=True):
        phi.add_incoming(ir.Constant(phi.type, None if phi is not term else 0), before)
        phi.add_incoming(new, loop)
    builder.position_at_end(after)
    return larger


def size_of(stored):
    """How many bytes a panel has a term."""
    return PANEL if stored == BYTES else 4 * PANEL


def in_all_lanes(builder, number):
    """Code for a vector of one number."""
    nothing = ir.Constant(NUMBERS, ir.Undefined)
    first = builder.insert_element(nothing, number, LANE(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(LANE, PANEL), [0] * PANEL))
