"""Functions compiled by numba, and where their machine code is kept."""

import hashlib
import os
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock
from numba import extending, njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from duoviz.models.cache import cache_folder

# What the code is made from: numba itself looks only at the file of the function that is called.
SOURCES = ("attention", "barrier", "kernels", "machine_code", "ngrams", "steps", "tiles", "vectors")
VERSION = hashlib.sha256(b"".join((Path(__file__).parent / f"{name}.py").read_bytes() for name in SOURCES)).hexdigest()

# A function that makes LLVM's code; its type says nothing of how compiled code calls it.
intrinsic: Any = extending.intrinsic


class InCacheFolder(_CacheLocator):
    """Keeps code beside the converted models, where every copy of the sources finds it, a read-only one too."""

    def __init__(self, function: Callable, file: str):
        # numba names the file when it cannot keep a function.
        self.line, self._py_file = function.__code__.co_firstlineno, file

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)

    def get_cache_path(self):
        # Two versions that run at once do not write over each other's code.
        return str(cache_folder() / "machine-code" / VERSION[:16])

    def get_source_stamp(self):
        return VERSION

    def get_disambiguator(self):
        return str(self.line)


class Kept(FunctionCache):
    """numba's cache of compiled code; what cannot be kept, or was damaged, is compiled again at the next start."""

    class _impl_class(CompileResultCacheImpl):
        _locator_classes = [InCacheFolder]

    def save_overload(self, sig, data):
        # A filelock's Timeout is an OSError, too.
        with suppress(OSError):
            os.makedirs(self.cache_path, exist_ok=True)
            # Target and draft, in two processes, compile at the same time.
            with FileLock(os.path.join(self.cache_path, "kernels.lock"), timeout=10):
                super().save_overload(sig, data)

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file raises errors of many types
            with suppress(OSError):
                self.flush()
            return None


def compiled(function: Callable, flags: Collection[str] = ("nnan", "nsz")) -> Callable[..., Any]:
    """The function as machine code that runs without Python's lock.

    flags: LLVM's for fast math, how freely numbers are computed; by default no sum is taken in another order, and no
    product fused into it.
    """
    made = njit(nogil=True, error_model="numpy", fastmath=set(flags))(function)
    made._cache = Kept(function)  # pyright: ignore[reportAttributeAccessIssue]
    return made


@intrinsic
def larger(typing, x, y):
    """The larger of two floats, neither NaN. Unlike Python's `max`, it lets LLVM vectorise a loop."""

    def generate(context, builder, signature, arguments):
        flags = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered(">", *arguments, flags=flags), *arguments, flags=flags)

    return x(x, y), generate
