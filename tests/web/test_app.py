"""What the page says of the machine it runs on."""

import pytest

from duoviz.web import app


@pytest.mark.parametrize(
    "device, cores, told", [("cpu", 2, app.NO_GPU), ("cpu", 1, app.ONE_CORE), ("cuda", 2, None), ("cuda", 1, None)]
)
def test_the_page_says_what_the_machine_cannot_do(hardware, monkeypatch, device, cores, told):
    monkeypatch.setattr(app, "target_device", lambda: device)
    monkeypatch.setattr(app, "available_cores", lambda: tuple(range(cores)))
    texts = [block.value for block in app.build_app(hardware).blocks.values() if block.elem_id == "no-gpu"]
    assert texts == ([told] if told else [])
