"""The compiled decoder: what transformers computes, and the same bits however a token is forwarded."""

import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from unittest.mock import Mock

import numba
import numpy as np
import pytest
import torch

from duoviz.models import compiled_decoder, kernels, machine_code, tiles
from duoviz.models.attention import TOGETHER
from duoviz.models.barrier import JOINED, KNOCKED, gather, join, wait_for_all
from duoviz.models.compiled_decoder import Panels
from duoviz.models.cores import available_cores, on_cores
from duoviz.models.machine_code import compiled
from duoviz.models.team import Team, borrowing, team
from duoviz.models.tiles import PANEL, TILE
from duoviz.models.vectors import exponential, leaders
from duoviz.models.weights import Matrix
from tests.models.folders import folder, loaded
from tests.models.reference import FAMILIES, exact_model, expected, random_ids
from tests.until import wait_until
from tests.weights import VOCABULARY


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The folder of a tiny model that fills no panel evenly."""
    return folder(tmp_path_factory.mktemp("large"), exact_model("qwen3, uneven"))


@pytest.fixture
def set_threads(monkeypatch):
    """Sets how many threads torch, and so our team, uses in one test."""
    monkeypatch.setattr(compiled_decoder, "A_THREADS_BYTES", 1)
    yield torch.set_num_threads
    torch.set_num_threads(1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("precision, tolerance", [("float32", 1e-4), ("int8", 0.08)])
def test_it_computes_what_transformers_does(family, precision, tolerance, tmp_path):
    reference = exact_model(family)
    model, ids = loaded(folder(tmp_path, reference), precision), random_ids(40)
    exact, ours = expected(reference, ids), model.forward(ids).double()
    assert ours.shape == exact.shape and (exact - ours).norm() / exact.norm() < tolerance


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_the_bits_are_the_same_alone_in_a_chain_and_in_a_tree(large, precision):
    model, ids = loaded(large, precision), random_ids(2 * TILE + 70)
    # The queries of a tile of rows are more than are made together.
    assert model.decoder.shape.heads // model.decoder.shape.kv_heads * TILE > TOGETHER
    alone = torch.cat([model.forward([id]) for id in ids])
    for rows in (2, TILE - 1, TILE + 1, len(ids)):
        model.crop(0)
        chunks = [model.forward(ids[start : start + rows]) for start in range(0, len(ids), rows)]
        assert torch.equal(torch.cat(chunks), alone)
    following = model.forward([4])
    # The same text again, each token with a sibling in front of it, and then without them.
    model.crop(60)
    path = [59]
    for place in range(60, len(ids), 2):
        start, pair = model.length, ids[place : place + 2]
        logits = model.forward([9, pair[0], 9, pair[1]], parents=[path[-1], path[-1], start + 1, start + 1])
        assert torch.equal(logits[[1, 3]], alone[place : place + 2])
        path += [start + 1, start + 3]
    assert torch.equal(model.forward([3, 4], rows=[1], parents=[path[-1]] * 2), following)
    model.keep(path[1:])
    assert torch.equal(model.forward([4]), following)


@pytest.mark.parametrize("threads, lent", [(2, False), (8, False), (1, True), (2, True)])
def test_the_bits_are_the_same_with_any_number_of_threads_and_with_a_core_that_is_lent(
    large, threads, lent, set_threads
):
    model, ids, busy = loaded(large), random_ids(TILE + 3), np.zeros(1, np.int64)
    alone = model.forward(ids)
    set_threads(threads)
    for number in range(20):
        model.crop(0)
        busy[0] = number % 2
        with borrowing(tuple(available_cores())[:1], busy) if lent else nullcontext():
            if number % 2:
                threading.Timer(0.002, busy.fill, (0,)).start()
            assert torch.equal(model.forward(ids), alone)


def test_several_threads_may_each_use_a_model_of_their_own(large):
    ids, alone = random_ids(30), loaded(large).forward(random_ids(30))

    def same(_):
        model, found = loaded(large), []
        with on_cores(tuple(available_cores())):
            for _ in range(20):
                model.crop(0)
                found.append(torch.equal(model.forward(ids), alone))
        return all(found)

    with ThreadPoolExecutor(4) as users:
        assert all(users.map(same, range(4)))


def test_pairs_are_multiplied_without_an_instruction_for_them(monkeypatch):
    monkeypatch.setattr(tiles, "FEATURES", {})
    x, panel = np.random.randint(-9000, 9000, (1, 6), np.int16), np.random.randint(-128, 128, (1, 3, PANEL, 2), np.int8)
    y = np.zeros((1, PANEL), np.float32)
    numba.njit(lambda x, panel, y: tiles.tile(x, 0, 1, panel, 0, 1, y))(x, panel, y)
    assert (y[0] == np.einsum("tu,tcu->c", x.reshape(3, 2).astype(int), panel[0].astype(int))).all()


@pytest.mark.parametrize("columns", [64, 14336])
def test_a_sum_of_the_largest_whole_numbers_fits(columns):
    panels, x = Panels(1, PANEL, columns, np.int8), np.full((1, columns), 3, np.float32)
    panels.set(0, Matrix(torch.full((PANEL, columns), -128, dtype=torch.int8)))
    y = np.zeros((1, PANEL), np.float32)
    kernels.product(x, panels.panels[0], np.ones(PANEL, np.float32), panels.bias[0], y, 0, 1)
    np.testing.assert_allclose(y, -3 * 128 * columns, rtol=1e-5)


def test_the_exponential_is_right_to_two_units_in_the_last_place():
    x = np.linspace(-86, 86, 20_001, dtype=np.float32)
    ours = np.array([exponential(number) for number in x], np.float32)
    exact = np.exp(x.astype(np.float64))
    assert (np.abs(ours - exact) / np.spacing(exact.astype(np.float32))).max() <= 2
    assert exponential(np.float32(-1e30)) > 0 and np.isfinite(exponential(np.float32(1e30)))


@pytest.mark.parametrize("kind, exact", [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_the_largest_logits_come_in_order_with_the_sum_of_all(kind, exact, temperature):
    # Whole numbers, so that many are equal, over several blocks and a part of one.
    logits = np.random.default_rng(0).integers(-40, 40, 1000).astype(kind) / 4
    logits[7] = -np.inf
    columns, total = leaders(logits, 60, kind(1 / temperature))
    assert columns.tolist() == np.argsort(-logits, kind="stable")[:60].tolist()
    powers = np.exp((logits.astype(np.float64) - logits.max()) / temperature)
    assert total == pytest.approx(np.log(powers.sum()), abs=exact)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_one_logit_that_is_no_number_shows_in_the_sum(wrong):
    logits = np.zeros(1000, np.float32)
    logits[900] = wrong
    assert np.isnan(leaders(logits, 2, np.float32(1))[1])


@pytest.mark.parametrize("wrong", [-1, VOCABULARY, 10**9])
def test_an_id_or_a_row_that_is_none_is_refused(large, wrong):
    with pytest.raises(IndexError):
        loaded(large).forward([3, wrong])
    with pytest.raises(IndexError):
        loaded(large).forward([3, 4], rows=[wrong])


@pytest.mark.parametrize("borrowed_in", [0, 2, None])
def test_a_thread_joins_the_others_at_the_part_at_which_its_core_is_free(borrowed_in):
    """And where that is after the last part, it does nothing."""
    team, busy, log = Team(2, tuple(available_cores())[:1]), np.ones(1, np.int64), []

    def work(meeting, rank, threads):
        part, now = (join(meeting, busy), threads + 1) if rank == threads else (0, threads)
        while part < 4:
            if rank == 0 and part == borrowed_in:
                busy[0] = 0
                wait_until(lambda: meeting[KNOCKED])
            now = gather(meeting, rank, threads, now, part)
            log.append((part, rank, now))
            wait_for_all(meeting[now - threads :], now)
            part += 1
        if rank == 0 and now == threads:
            meeting[JOINED] = part + 1

    for _ in range(2):
        busy[0] = 1
        log.clear()
        team.run(work)
        ranks = {part: (0, 1) if borrowed_in is None or part < borrowed_in else (0, 1, 2) for part in range(4)}
        assert sorted(log) == [(part, rank, len(ranks[part])) for part in range(4) for rank in ranks[part]]


def test_a_small_model_does_not_take_all_threads_for_a_few_rows(large, monkeypatch):
    decoder, allowed = loaded(large).decoder, []
    monkeypatch.setattr(compiled_decoder, "team", lambda most: allowed.append(most) or team(1))
    weights = decoder.weights
    size = sum(part.nbytes for part in (weights.qkv, weights.out, weights.gate_up, weights.down, weights.head))
    for share, rows in ((3.5, 1), (3.5, 32), (0.01, 3)):
        monkeypatch.setattr(compiled_decoder, "A_THREADS_BYTES", size / share)
        decoder.forward([3] * rows, range(rows), np.tri(rows, dtype=np.bool_), [0])
    assert allowed == [3, 7, 1]


def test_a_part_that_fails_leaves_no_other_waiting(set_threads):
    def fails(meeting, rank, threads):
        if rank == 0:
            raise KeyboardInterrupt
        wait_for_all(meeting, threads)

    def works(meeting, rank, threads):
        wait_for_all(meeting, threads)

    set_threads(2)
    with pytest.raises(KeyboardInterrupt):
        team(2).run(fails)
    team(2).run(works)


def test_a_model_that_is_not_used_any_more_is_not_kept(large, set_threads):
    set_threads(2)
    model = loaded(large)
    model.forward([3])
    decoder = weakref.ref(model.decoder)
    panels = weakref.ref(model.decoder.weights.head.base)
    del model
    # Its helper may just be about to let it go.
    wait_until(lambda: decoder() is None and panels() is None)


@pytest.mark.parametrize("damage", ["full", "cut", "nowhere"])
def test_code_that_cannot_be_kept_is_compiled_again(damage, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("DUOVIZ_CACHE", str(folder))
    if damage == "nowhere":
        folder.write_text("no folder")
    elif damage == "full":
        full = Mock(side_effect=OSError(28, "No space left on device"))
        monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "save", full)
    assert compiled(kernels.own_range.py_func)(7, 1, 2) == (3, 7)
    if damage == "cut":
        files = [file for file in folder.rglob("*") if file.is_file()]
        assert files
        for file in files:
            file.write_bytes(file.read_bytes()[:40])
    assert compiled(kernels.own_range.py_func)(7, 0, 2) == (0, 3)


def test_code_is_kept_for_every_copy_of_its_sources_and_compiled_again_when_one_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("DUOVIZ_CACHE", str(tmp_path))
    hits = []
    for version, copy in (("this", "one"), ("this", "another"), ("other", "one")):
        monkeypatch.setattr(machine_code, "VERSION", version)
        source = tmp_path / f"{copy}/kernel.py"
        source.parent.mkdir(exist_ok=True)
        source.write_text("def next_one(number):\n    return number + 1\n")
        code, scope = compile(source.read_text(), source, "exec"), {"__name__": "kernel"}
        exec(code, scope)
        made = compiled(scope["next_one"])
        assert made(7) == 8
        hits.append(len(made.stats.cache_hits))
    assert hits == [0, 1, 0]


@pytest.mark.parametrize("rows", [[], [99], [60, 7]])
def test_what_is_left_out_before_the_rows_wanted_changes_no_bit(large, rows):
    ids = random_ids(100)
    some, all_rows = loaded(large), loaded(large)
    assert torch.equal(some.forward(ids, rows=rows), all_rows.forward(ids)[rows])
    assert torch.equal(some.forward([5, 6]), all_rows.forward([5, 6]))
