"""Forwards that a GPU replays: what they compute, with a tiny model in float64."""

from types import SimpleNamespace

import pytest
import torch

from duoviz.models.torch_decoder import MOST_ROWS, Graphs, Recorded
from tests.models.folders import folder, loaded
from tests.models.reference import close, exact_model, expected, random_ids


class Unrecorded(Graphs):
    """Without a GPU each replay computes anew, from and into the same places."""

    def record(self, *inputs):
        logits = self.step(*inputs)
        return Recorded(SimpleNamespace(replay=lambda: logits.copy_(self.step(*inputs))), *inputs[:2], logits)


@pytest.fixture
def reference():
    return exact_model("llama")


@pytest.fixture
def model(reference, tmp_path):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = loaded(folder(tmp_path, reference), "float64", device=device)
    if device == "cpu":
        model.decoder.graphs = Unrecorded(model.decoder.step, device="cpu", spare=model.slots.capacity)
    return model


def test_a_text_and_trees_on_it(reference, model):
    prompt = random_ids(180)
    parts = [model.forward(prompt[:150]), model.forward(prompt[150:173], rows=[0, 3, 22]), model.forward(prompt[173:])]
    assert close(torch.cat(parts).cpu(), expected(reference, prompt)[[*range(151), 153, 172, *range(173, 180)]])
    tree = model.forward([5, 6, 7], parents=[179, 179, 180])  # 5 and 6 after the prompt, 7 after 5
    assert close(tree[2].cpu(), expected(reference, [*prompt, 5, 7])[-1])
    model.keep([180, 182])
    again = model.forward([8], parents=[181])
    assert close(tree[1].cpu(), expected(reference, [*prompt, 6])[-1])
    assert close(again[0].cpu(), expected(reference, [*prompt, 5, 7, 8])[-1])


def test_forwards_of_one_shape_share_a_record_and_leave_earlier_logits_as_they_are(reference, model):
    first = model.forward([3])
    for rows in (5, 1, 8, 6, 1, MOST_ROWS + 1):
        model.forward(random_ids(rows))
    assert close(first.cpu(), expected(reference, [3]))
    assert len(model.decoder.graphs.recorded) == 2
