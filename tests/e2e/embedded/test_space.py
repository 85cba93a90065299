"""A Space: the files sent there and no others, read-only, uid 1000, on every interface."""

import socket

import pytest

from tests.web.served import client_of


def test_a_space_runs_from_a_read_only_tree_and_keeps_its_limits(space):
    url, log = space
    client = client_of(url)
    job = client.submit(prompt="Name a colour.", max_new_tokens=8, api_name="/generate")
    assert 1 <= job.result(timeout=600)["metrics"]["new_tokens"] <= 8
    for count in (257, 5000):
        with pytest.raises(
            Exception, match="On this Space a run may have at most 256 new tokens: enter fewer, or run duoviz on your"
        ):
            client.predict(prompt="Hi", max_new_tokens=count, api_name="/generate")
    # Neither Gradio, which would write beside the source, nor a visitor's mistake fills the log.
    assert "Traceback" not in log.read_text() and "PermissionError" not in log.read_text()
    with pytest.raises(Exception, match=r"There is no pair named 'someone/big \+ someone/small' on this Space"):
        client.predict(prompt="Hi", pair="someone/big + someone/small", api_name="/generate")


def test_a_space_starts_in_spite_of_a_variable_that_cannot_be_kept_and_its_log_is_short(space):
    url, log = space
    # The cache that the test lends it may be one that it cannot write to.
    lines = [line for line in log.read_text().splitlines() if not line.startswith("DUOVIZ_CACHE")]
    begins = (
        "Pair: embedded, on ", "Workers: 1. Queue: at most 80 runs", "Limits: On this Space", "DUOVIZ_LINE cannot",
        "The page",
    )  # fmt: skip
    assert [line for line, begin in zip(lines, begins, strict=False) if not line.startswith(begin)] == []
    assert "share=True" not in log.read_text()


def test_a_space_listens_on_every_interface(space):
    port = int(space[0].rstrip("/").rpartition(":")[2])
    with socket.socket() as caller:
        assert caller.connect_ex(("127.0.0.2", port)) == 0
