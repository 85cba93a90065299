"""How the threads of one forward wait for each other, in compiled code."""

import platform

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from duoviz.models.machine_code import compiled, intrinsic

# How often a thread looks before it sleeps between two looks, and for how long, in microseconds; on a core that another
# program needs it sleeps longer.
SPINS, NAP, LONG_NAP = 4_000, 20, 200


@intrinsic
def arrive(typing, counter):
    """Add one to counter[0] for all threads to see; returns how many arrived before."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", array.data, ir.IntType(64)(1), "seq_cst")

    return types.int64(counter), generate


@intrinsic
def arrived(typing, counter):
    """counter[0] as the other threads have left it."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(array.data, "acquire", 8)

    return types.int64(counter), generate


@intrinsic
def pause(typing):
    """Tell the processor that this thread only waits, so that its other half may work."""

    def generate(context, builder, signature, arguments):
        if platform.machine() == "x86_64":
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


usleep = types.ExternalFunction("usleep", types.int32(types.uint32))


@compiled
def nap(microseconds):
    usleep(np.uint32(microseconds))


@compiled
def wait_for_all(counter, threads):
    """Go on when all threads are here; counter: int64 [1], zero before the first of them came.

    A thread that waits long sleeps, for another may need its core to get here.
    """
    if threads == 1:
        return
    wait_until(counter, (arrive(counter) // threads + 1) * threads)


@compiled
def wait_until(counter, enough):
    """Go on when counter[0] has reached this number."""
    spins = 0
    while arrived(counter) < enough:
        if spins < SPINS:
            spins += 1
            pause()
        else:
            nap(NAP)


# What threads share that do a work of several parts together, int64 [4]: who has come to the barriers of the first
# ones, and to those after another has joined them; whether that one knocked; the part, from 1, that it takes part in
# first, beyond all parts where it came too late.
FIRST, ALL, KNOCKED, JOINED, MEETING = 0, 1, 2, 3, 4


@compiled
def join(meeting, busy):
    """Wait until nothing is busy, and then for the next part of the work; returns which that is, from 0."""
    while arrived(busy) and not arrived(meeting[JOINED:]):
        nap(LONG_NAP)
    arrive(meeting[KNOCKED:])
    wait_until(meeting[JOINED:], 1)
    return arrived(meeting[JOINED:]) - 1


@compiled
def gather(meeting, rank, threads, now, part):
    """Go on with a part when all threads are here, of which `now` take part; returns how many do from now on.

    threads: those from the beginning; the one that joins them has their number for its rank.
    """
    if now > threads:
        wait_for_all(meeting[ALL:], now)
        return now
    if rank == 0 and arrived(meeting[KNOCKED:]):
        meeting[JOINED] = part + 1
    wait_for_all(meeting[FIRST:], threads)
    if not arrived(meeting[JOINED:]):
        return threads
    wait_for_all(meeting[ALL:], threads + 1)
    return threads + 1
