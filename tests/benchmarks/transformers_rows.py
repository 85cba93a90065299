"""transformers.generate as rows beside ours: plain, with prompt look-up, and with our draft as its assistant."""

import tempfile
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.generation.streamers import BaseStreamer

from duoviz.folders import DRAFT_FOLDER
from duoviz.models.cores import on_cores
from duoviz.models.embedded import embedded_target
from duoviz.models.pair import Pair
from duoviz.training.student import export_assistant

# The γ of the SpS that it stands beside.
BUDGET = 5


class FirstToken(BaseStreamer):
    """Notes when the first new token came."""

    def __init__(self):
        self.calls, self.time = 0, None

    def put(self, value) -> None:
        self.calls += 1
        if self.calls == 2:  # the first call brings the prompt
            self.time = time.perf_counter()

    def end(self) -> None:
        pass


def assistant() -> PreTrainedModel:
    """The embedded draft with a full head, in float32, drafting `BUDGET` tokens whatever it thinks of them."""
    with tempfile.TemporaryDirectory() as folder:
        export_assistant(DRAFT_FOLDER, embedded_target(), Path(folder))
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.num_assistant_tokens = BUDGET
    model.generation_config.num_assistant_tokens_schedule = "constant"
    model.generation_config.assistant_confidence_threshold = 0.0
    return model


class TransformersRows:
    """Runs of transformers.generate, greedy, float32, on all cores."""

    def __init__(self, pair: Pair, max_new_tokens: int):
        self.pair, self.count = pair, max_new_tokens
        self.model = AutoModelForCausalLM.from_pretrained(embedded_target(), dtype=torch.float32).eval()
        self.options = {
            "transformers": {},
            "transformers, prompt lookup": {"prompt_lookup_num_tokens": 10, "max_matching_ngram_size": 3},
            f"transformers, assistant γ={BUDGET}": {"assistant_model": assistant()},
        }

    def rows(self, prompt: str, *, warmup: bool) -> list[dict]:
        """One row for each kind of run, as `runner.compare` has them, without a trace."""
        if warmup:
            for options in self.options.values():
                self.run(prompt, 16, options)
        return [
            {"prompt": prompt, "method": name, "cores": "all", "trace": None, **self.run(prompt, self.count, options)}
            for name, options in self.options.items()
        ]

    def run(self, prompt: str, count: int, options: dict) -> dict:
        first = FirstToken()
        with on_cores(self.pair.cores.all):
            start = time.perf_counter()
            ids = self.pair.encode(prompt)
            out = self.model.generate(
                torch.tensor([ids]), max_new_tokens=count, do_sample=False, streamer=first, **options
            )
            wall = time.perf_counter() - start
        tokens = out[0, len(ids) :].tolist()
        figures = {"tps": len(tokens) / wall, "ttft": first.time - start, "new_tokens": len(tokens)}
        return {"token_ids": tokens, "metrics": figures}
