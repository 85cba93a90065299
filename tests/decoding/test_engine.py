"""What an engine keeps between runs: drafts, datastores, costs; and how it is loaded and closed."""

from unittest.mock import Mock

import pytest

from duoviz.decoding import engine
from duoviz.decoding.engine import Engine, load_engine
from duoviz.errors import UserError
from tests.decoding.stores import build
from tests.tiny import tiny_engine


def idle_draft(*arguments):
    """A draft that does nothing, and can be closed."""
    draft = Mock()
    draft.alive = lambda: not draft.close.called
    return draft


def test_each_datastore_is_opened_once_and_none_named_is_the_one_that_comes_along(tmp_path, monkeypatch):
    tiny, folders = tiny_engine(), [build([[1, 2, last]], tmp_path / str(last)) for last in (3, 4)]
    monkeypatch.setattr(engine, "DATASTORE_FOLDER", folders[0])
    first, second = (tiny.datastore(name) for name in ("", str(folders[1])))
    assert (first.tokens[2], second.tokens[2]) == (3, 4)
    assert tiny.datastore("") is first and tiny.datastore(str(folders[1])) is second


def test_a_draft_is_started_once_and_again_after_it_died(monkeypatch):
    monkeypatch.setattr(engine, "ProcessDraft", idle_draft)
    with Engine(tiny_engine().pair) as kept:
        first = kept.draft(beside=True)
        assert kept.draft(beside=True) is first and first.wait_until_started.call_count == 2
        first.close()
        second = kept.draft(beside=True)
        assert second is not first and kept.draft(beside=False) is kept.draft(beside=False)
    assert not second.alive()


def test_a_draft_loads_beside_its_target_and_ends_where_that_cannot_be_loaded(monkeypatch):
    workers, pair = [], tiny_engine().pair

    def fail():
        raise UserError("It is cut short.")

    rest = [lambda: workers and pair, lambda: pair, fail]
    monkeypatch.setattr(engine, "prepare_pair", lambda *arguments: (pair.draft, pair.cores, rest.pop(0)))
    monkeypatch.setattr(engine, "ProcessDraft", lambda *arguments: workers.append(idle_draft()) or workers[-1])
    loaded = load_engine("any", draft=True)
    assert loaded.pair is pair and loaded.draft_beside is workers[0]
    assert load_engine("any").draft_beside is None and len(workers) == 1
    with pytest.raises(UserError):
        load_engine("any", draft=True)
    assert [worker.alive() for worker in workers] == [True, False]
