"""The chance table: read, refused where damaged, and monotone enough to choose by."""

import json

import pytest

from duoviz.decoding.chances import EDGES, FILE, LONGEST_MATCH, PLACES, RANKS, Chances, chances_of, plain
from duoviz.models.embedded import DRAFT_FOLDER


def test_the_embedded_draft_has_a_table():
    table = chances_of(DRAFT_FOLDER)
    assert table != plain()
    for sampled in (False, True):
        assert table.drafted(0, 0.95, sampled=sampled) > table.drafted(0, 0.3, sampled=sampled) > 0
        assert table.drafted(0, 0.3, sampled=sampled) > table.drafted(3, 0.05, sampled=sampled)
    assert table.looked_up(4, 0) > table.looked_up(1, 0) and table.looked_up(99, 99) == table.looked_up(4, 9)
    assert list(table.by_rank) == sorted(table.by_rank, reverse=True)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", json.dumps({"greedy": [[0.5]], "sampled": [], "copied": [], "by_rank": []})]
)
def test_a_damaged_table_is_none(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    assert chances_of(tmp_path) == chances_of(tmp_path / "nowhere") == chances_of(None) == plain()


def test_chances_lie_between_the_middles_of_bins():
    row = [0.1 * place / len(EDGES) for place in range(len(EDGES))]
    table = Chances([row] * RANKS, [row] * RANKS, [[1.0] * PLACES] * LONGEST_MATCH, [0.5] * RANKS, row)
    assert row[7] < table.drafted(0, 0.4, sampled=False) < row[8]
    assert table.drafted(0, 0.0, sampled=False) == row[0] and table.drafted(9, 1.0, sampled=True) == row[-1]
    assert table.looked_up(1, 0) < 1


def test_places_are_met_as_often_as_they_were():
    table = chances_of(DRAFT_FOLDER)
    places = table.places()
    assert sum(share for share, _ in places) == pytest.approx(1) and all(sum(kind) < 1 for _, kind in places)
    assert sum(share * kind[0] for share, kind in places) == pytest.approx(table.by_rank[0], abs=0.02)
