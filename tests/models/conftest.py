"""The folders that most tests of loading share."""

import pytest

from tests.models.folders import folder, llama


@pytest.fixture(scope="session")
def two(tmp_path_factory):
    """Two models that share a tokenizer; no test changes them."""
    base = tmp_path_factory.mktemp("models")
    return folder(base / "target", llama(0)), folder(base / "draft", llama(1))
