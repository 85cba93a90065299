"""The chance table: read, refused where damaged, and monotone enough to choose by."""

import json

import pytest

from duoviz.decoding.acceptance_table import (
    EDGES,
    FILE,
    LONGEST_MATCH,
    PLACES,
    RANKS,
    TEMPERATURES,
    AcceptanceTable,
    fitted_table,
    of_rank,
    plain,
)
from duoviz.errors import UserError
from duoviz.folders import DRAFT_FOLDER
from duoviz.models.ngrams import ALIKE, DIFFER, KINDS, ONCE, Match


def matched(length, kind=ONCE):
    return Match(length, token=7, place=3, kind=kind)


def test_the_embedded_draft_has_a_table():
    table = fitted_table(DRAFT_FOLDER)
    assert table and table != plain()
    for temperature in (0.0, 0.2, 0.8, 1.0, 2.0):
        best, unsure = (of_rank(table.at(temperature), 0, q) for q in (0.95, 0.3))
        assert best > unsure > of_rank(table.at(temperature), 3, 0.05) > 0
        long, short = (table.of_copied(matched(n), 0, temperature=temperature) for n in (4, 1))
        assert long > short
        alike, differ = (table.of_copied(matched(4, kind), 0, temperature=temperature) for kind in (ALIKE, DIFFER))
        assert alike > long > differ
    assert table.of_copied(matched(2), 3, temperature=0) == table.copied[0][ONCE][2 - 1][3]
    assert table.of_copied(matched(99), 99, temperature=0) == table.of_copied(matched(4), 9, temperature=0)
    # What stood there before is less sure to come again where chance decides.
    assert table.of_copied(matched(4), 3, temperature=1.3) < table.of_copied(matched(4), 3, temperature=0)
    assert list(table.by_rank) == sorted(table.by_rank, reverse=True)


def test_without_a_file_there_is_no_table(tmp_path):
    assert fitted_table(tmp_path) is fitted_table(tmp_path / "nowhere") is fitted_table(None) is None


@pytest.mark.parametrize(
    "change",
    [None, [], {}, {"drafted": [[[0.5]]]}, {"copied": {}}, {"by_rank": [0.5, 0.2, 0.1, 2]}, {"by_rank": ["0.5"] * 4},
     {"by_rank": [0.5, 0.2, 0.1, float("nan")]}, {"sureness": [[0.1]] * 15}, {"more": 1}],
    ids=str,
)  # fmt: skip
def test_a_damaged_table_is_refused(tmp_path, change):
    whole = json.loads((DRAFT_FOLDER / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps(whole | change if change else change))
    with pytest.raises(UserError, match=f"{FILE} is (damaged|no table of chances)"):
        fitted_table(tmp_path)


def table_of(drafted, copied):
    """drafted: by the temperature a row of chances; copied: one chance."""
    looked_up = [[[[rate] * PLACES] * LONGEST_MATCH] * len(KINDS) for rate in copied]
    return AcceptanceTable([[row] * RANKS for row in drafted], looked_up, [0.5] * RANKS, [1.0] * len(EDGES))


def test_chances_lie_between_the_middles_of_bins():
    row, counted = [0.1 * place / len(EDGES) for place in range(len(EDGES))], 1 + len(TEMPERATURES)
    table = table_of([row] * counted, [1.0] * counted)
    assert row[7] < of_rank(table.at(0), 0, 0.4) < row[8]
    assert of_rank(table.at(0), 0, 0.0) == row[0]
    assert of_rank(table.at(0.5), 9, 1.0) == pytest.approx(row[-1])
    assert table.of_copied(matched(1), 0, temperature=0) < 1


def test_chances_lie_between_those_of_the_nearest_temperatures():
    rates = (0.8, 0.1, 0.2, 0.4, 0.8)
    table = table_of([[rate] * len(EDGES) for rate in rates], rates)
    assert [of_rank(table.at(t), 0, 0.5) for t in TEMPERATURES] == pytest.approx([0.1, 0.2, 0.4, 0.8])
    assert of_rank(table.at(0.85), 0, 0.5) == pytest.approx(0.3)
    assert [of_rank(table.at(t), 0, 0.5) for t in (0.01, 9.0, 0.0)] == pytest.approx([0.1, 0.8, 0.8])
    # What is looked up has no q that the temperature changes: from greedy on, all lies between.
    copies = [table.of_copied(matched(1), 0, temperature=t) for t in (0.0, 0.2, 0.4)]
    assert copies == pytest.approx([0.8, 0.45, 0.1])


def test_places_are_met_as_often_as_they_were():
    table = fitted_table(DRAFT_FOLDER)
    places = table.places()
    assert sum(met for met, _ in places) == pytest.approx(1) and all(sum(kind) < 1 for _, kind in places)
    for rank in (0, 1):
        assert sum(met * kind[rank] for met, kind in places) == pytest.approx(table.by_rank[rank], rel=0.05)
