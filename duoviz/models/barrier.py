"""How the threads of one forward wait for each other, in compiled code."""

import platform

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from duoviz.models.machine_code import compiled, intrinsic

# How often a thread spins before it sleeps between two looks; microseconds of a sleep, and of the late thread's.
SPINS, NAP, LONG_NAP = 4_000, 20, 200


@intrinsic
def arrive(typing, counter):
    """Atomic counter[0] += 1; returns the value before."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", array.data, ir.IntType(64)(1), "seq_cst")

    return types.int64(counter), generate


@intrinsic
def arrived(typing, counter):
    """Atomic read of counter[0]."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(array.data, "acquire", 8)

    return types.int64(counter), generate


@intrinsic
def pause(typing):
    """Hint that this thread spins, so the core's other hyperthread may work."""

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
    """Wait for all threads; counter: int64 [1], at first 0. A long wait sleeps: another thread may need the core."""
    if threads == 1:
        return
    wait_until(counter, (arrive(counter) // threads + 1) * threads)


@compiled
def wait_until(counter, enough):
    """Wait until counter[0] ≥ enough."""
    spins = 0
    while arrived(counter) < enough:
        if spins < SPINS:
            spins += 1
            pause()
        else:
            nap(NAP)


# `meeting`, shared, int64 [4]: arrivals at barriers before the late thread joins; arrivals after; whether it has
# announced itself; the first part it takes part in, from 1 (past the last: too late).
FIRST, ALL, KNOCKED, JOINED, MEETING = 0, 1, 2, 3, 4


@compiled
def join(meeting, busy):
    """The late thread waits until busy[0] is 0, and then for the next part; returns which that is, from 0."""
    while arrived(busy) and not arrived(meeting[JOINED:]):
        nap(LONG_NAP)
    arrive(meeting[KNOCKED:])
    wait_until(meeting[JOINED:], 1)
    return arrived(meeting[JOINED:]) - 1


@compiled
def gather(meeting, rank, threads, now, part):
    """Begin a part when all `now` threads are here; returns how many take part from now on.

    threads: how many there were at first, which is also the late thread's rank.
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
