"""How the cores are shared out."""

import os

import pytest
import torch

from duoviz.models.cores import assign_cores, available_cores, core_label, machine_name, on_cores, short_name


@pytest.mark.parametrize("count", [2, 3, 16])
@pytest.mark.parametrize("gpu", [False, True])
def test_target_and_draft_never_share_a_core(count, gpu):
    cores = assign_cores(list(range(count)), target_on_gpu=gpu)
    assert not set(cores.target) & set(cores.draft) and cores.can_overlap
    assert cores.all == tuple(range(count))


def test_one_core_serves_both():
    cores = assign_cores([3], target_on_gpu=False)
    assert cores.target == cores.draft == cores.all == (3,) and not cores.can_overlap


def test_the_calling_thread_is_pinned_and_released():
    before, threads, core = os.sched_getaffinity(0), torch.get_num_threads(), available_cores()[0]
    with on_cores((core,)):
        assert os.sched_getaffinity(0) == {core} and torch.get_num_threads() == 1
    assert os.sched_getaffinity(0) == before and torch.get_num_threads() == threads


@pytest.mark.parametrize(
    ("given", "short"),
    [
        ("Intel(R) Xeon(R) Processor @ 2.80GHz", "Intel Xeon @ 2.80GHz"),
        ("Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", "Intel Core i7-8550U @ 1.80GHz"),
        ("AMD Ryzen 7 5800X 8-Core Processor", "AMD Ryzen 7 5800X"),
        ("Cortex-A76", "Cortex-A76"),
    ],
)
def test_a_processor_has_a_short_name(given, short):
    assert short_name(given) == short


def test_a_label_names_the_cores_and_those_that_are_lent():
    assert core_label((5,)) == f"CPU core 5 ({machine_name()})"
    assert core_label((1, 2), (0,)) == f"CPU cores 1, 2, then also 0 ({machine_name()})"
    assert core_label((0, 1, 4, 5, 6), (7, 8, 9)) == f"CPU cores 0, 1, 4 to 6, then also 7 to 9 ({machine_name()})"
