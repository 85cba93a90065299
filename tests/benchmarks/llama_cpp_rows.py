"""llama.cpp as rows beside ours, where llama-cpp-python is installed: in float32, and with the weights as they come."""

import time
from pathlib import Path

import llama_cpp
import numpy as np

from duoviz.models.cache import cache_folder
from duoviz.models.cores import on_cores
from duoviz.models.embedded import GGUF_NAME, fetch_gguf
from duoviz.models.pair import Pair
from duoviz.models.progress import no_progress

CONTEXT = 2048


def gguf_as_it_comes() -> Path:
    """The embedded target's own file, fetched once."""
    folder = cache_folder() / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / GGUF_NAME if (folder / GGUF_NAME).exists() else fetch_gguf(folder, no_progress)


def gguf_in_float32() -> Path:
    """The same weights, each written as the float32 number that it stands for."""
    source = gguf_as_it_comes()
    file = source.with_suffix(".float32.gguf")
    if not file.exists():
        options = llama_cpp.llama_model_quantize_default_params()
        options.ftype, options.allow_requantize = llama_cpp.LLAMA_FTYPE_ALL_F32, True
        part = file.with_suffix(".part")
        if llama_cpp.llama_model_quantize(str(source).encode(), str(part).encode(), options):
            raise RuntimeError(f"llama.cpp could not write {file}")
        part.replace(file)
    return file


class LlamaCppRows:
    """Greedy runs of llama.cpp, each on as many threads as it has cores."""

    def __init__(self, pair: Pair, max_new_tokens: int):
        self.pair, self.count = pair, max_new_tokens
        everything, one = pair.cores.all, pair.cores.all[-1:]
        lanes = {
            "llama.cpp, float32": (gguf_in_float32(), everything),
            "llama.cpp, float32, one core": (gguf_in_float32(), one),
            "llama.cpp, Q4_1": (gguf_as_it_comes(), everything),
        }
        self.models = {
            name: (llama_cpp.Llama(str(file), n_ctx=CONTEXT, n_threads=len(cores), n_threads_batch=len(cores),
                                   verbose=False), cores)
            for name, (file, cores) in lanes.items()
        }  # fmt: skip

    def rows(self, prompt: str, *, warmup: bool) -> list[dict]:
        """One row for each lane, as `runner.compare` has them, without a trace."""
        if warmup:
            for model, cores in self.models.values():
                self.run(model, cores, prompt, 16)
        return [
            {"prompt": prompt, "method": name, "cores": "all", "trace": None, **self.run(*lane, prompt, self.count)}
            for name, lane in self.models.items()
        ]

    def run(self, model: llama_cpp.Llama, cores: tuple[int, ...], prompt: str, count: int) -> dict:
        tokens: list[int] = []
        times: list[float] = []
        with on_cores(cores):
            start = time.perf_counter()
            new = self.pair.encode(prompt)
            model.reset()
            while len(tokens) < count and not (tokens and tokens[-1] in self.pair.eos):
                model.eval(new)
                logits = llama_cpp.llama_get_logits_ith(model.ctx, -1)
                new = [int(np.ctypeslib.as_array(logits, (model.n_vocab(),)).argmax())]
                tokens += new
                times.append(time.perf_counter() - start)
        figures = {"tps": len(tokens) / times[-1], "ttft": times[0], "new_tokens": len(tokens)}
        return {"token_ids": tokens, "metrics": figures}
