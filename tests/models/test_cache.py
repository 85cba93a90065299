"""Measuring: one process at a time, and nobody is waited for who is no longer wanted."""

import tempfile

import pytest
from filelock import FileLock, Timeout

from duoviz.models.cache import measuring


def test_who_measures_is_alone_and_who_is_no_longer_wanted_waits_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with measuring():
        (lock,) = tmp_path.iterdir()
        with pytest.raises(Timeout):
            FileLock(lock).acquire(timeout=0)
    asked = []
    with FileLock(lock), measuring(stopped=lambda: asked.append(1) or len(asked) == 3):
        assert len(asked) == 3
