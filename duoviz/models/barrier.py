"""How the threads of one forward wait for each other, in compiled code."""

import platform
import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from duoviz.models.machine_code import compiled

# How often a thread looks before it sleeps between two looks, and for how long, in microseconds.
SPINS, NAP = 4_000, 20


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
        if platform.machine().lower() in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


if sys.platform == "win32":

    @compiled
    def nap():
        pause()

else:
    usleep = types.ExternalFunction("usleep", types.int32(types.uint32))

    @compiled
    def nap():
        usleep(np.uint32(NAP))


@compiled
def wait_for_all(counter, threads):
    """Go on when all threads are here; counter: int64 [1], zero before the first of them came.

    A thread that waits long sleeps, for another may need its core to get here (not on Windows).
    """
    if threads == 1:
        return
    enough = (arrive(counter) // threads + 1) * threads  # pyright: ignore[reportCallIssue]
    spins = 0
    while arrived(counter) < enough:
        if spins < SPINS:
            spins += 1
            pause()
        else:
            nap()
