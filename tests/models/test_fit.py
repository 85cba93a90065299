"""Whether a pair fits in memory."""

import pytest

from duoviz.models import fit, hub, load
from duoviz.models.fit import check_room
from duoviz.models.load import load_pair
from duoviz.models.progress import ModelUnavailable
from tests.models.folders import llama


def test_models_that_do_not_fit_in_memory(two, monkeypatch):
    monkeypatch.setattr(fit, "free_memory", lambda device: 100_000)
    with pytest.raises(ModelUnavailable, match="target and .*draft need .* GB of memory, and .* has 0.0 GB free"):
        load_pair(f"{two[0]} + {two[1]}")
    monkeypatch.setattr(fit, "free_memory", lambda device: None)
    assert load_pair(f"{two[0]} + {two[1]}")


def test_on_a_gpu_the_pair_names_the_precision_and_each_side_has_its_own_memory(two, monkeypatch):
    loaded, checked = [], []

    def record(folder, **options):
        loaded.append(options)
        return load_model(folder, **(options | {"device": "cpu"}))

    load_model = load.load_model
    monkeypatch.setattr(load, "load_model", record)
    monkeypatch.setattr(load, "target_device", lambda: "cuda")
    monkeypatch.setattr(load, "check_fit", checked.append)
    pair = load_pair(f"{two[0]} + {two[1]}")
    assert (loaded[0]["precision"], loaded[0]["device"]) == ("bfloat16", "cuda")
    half = 2 * sum(p.numel() for p in llama().parameters())
    assert [[size for _, size in checked[0][device]] for device in ("cuda", "cpu")] == [[half, half], [half // 2]]
    pair.draft.load()
    assert loaded[1].get("device", "cpu") == "cpu"


def test_what_will_be_given_back_counts_as_free(two, monkeypatch):
    needed = load_pair(f"{two[0]} + {two[1]}").memory["cpu"]
    # The target in float32, and the draft in int8 twice.
    assert needed == (4 + 2 * 1) * sum(p.numel() for p in llama().parameters())
    monkeypatch.setattr(fit, "free_memory", lambda device: needed - 1000)
    with pytest.raises(ModelUnavailable, match="need .* GB of memory"):
        check_room(f"{two[0]} + {two[1]}", {"cpu": 999})
    check_room(f"{two[0]} + {two[1]}", {"cpu": 1000})
    check_room("embedded")


@pytest.mark.parametrize("name", ["them/model + them/draft", "them/model + embedded"])
def test_a_pair_that_is_too_large_is_refused_before_its_weights_are_fetched(name, monkeypatch):
    monkeypatch.setattr(hub, "from_cache", lambda model: None)
    monkeypatch.setattr(hub, "outline", lambda model: (llama().config.to_dict(), 70_000_000_000))
    monkeypatch.setattr(hub, "fetch", lambda *arguments: pytest.fail("it was fetched"))
    with pytest.raises(ModelUnavailable, match="them/model and .* need .* GB of memory, and this machine has"):
        check_room(name)


def test_a_copy_of_a_hubs_model_is_looked_into_without_the_hub(two, monkeypatch):
    monkeypatch.setattr(hub, "from_cache", lambda model: two[0])
    monkeypatch.setattr(hub, "outline", lambda model: pytest.fail("the hub was asked"))
    check_room("them/model + them/draft")
