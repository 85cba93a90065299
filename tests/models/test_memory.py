"""Free memory, on the machine and in a container."""

import pytest

from duoviz.models import memory


def test_free_memory_is_told_in_bytes():
    assert 10**7 < memory.free_memory("cpu") < 10**14


@pytest.mark.parametrize(
    "limit, used, stat, free",
    [
        ("16000000000", "10000000000", "anon 5\ninactive_file 2000000000\n", 8_000_000_000),
        ("max", "10000000000", "", None),
        (None, None, None, None),
    ],
    ids=["a limit", "no limit", "no container"],
)
def test_a_containers_limit_counts(tmp_path, monkeypatch, limit, used, stat, free):
    files = [tmp_path / name for name in ("limit", "used", "stat")]
    for file, content in zip(files, (limit, used, stat), strict=True):
        if content is not None:
            file.write_text(content)
    assert memory.free_in_group(*files) == free
    monkeypatch.setattr(memory, "GROUPS", [files])
    monkeypatch.setattr(memory, "free_on_machine", lambda: 9_000_000_000)
    assert memory.free_memory("cpu") == (free or 9_000_000_000)
