"""A process that fails or is killed takes its draft along."""

import pytest

from tests.children import end_in_a_run
from tests.starts import start
from tests.until import has_ended, wait_until


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["error", "SIGKILL"])
def test_no_draft_outlives_its_process(kind):
    child, pipe = start(end_in_a_run, kind)
    draft = pipe.recv()
    if kind == "SIGKILL":
        child.kill()
    child.join(60)
    wait_until(lambda: has_ended(draft))
