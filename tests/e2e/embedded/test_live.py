"""The Live tab of a Space in a real browser, on the embedded pair."""

from playwright.sync_api import expect

from tests.e2e.pages import READ_ITERATIONS, is_at, open_live


def test_generate_shows_text_branches_lanes_k_and_theta(page, space):
    # Of a budget that is set: with an automatic one the draft rests where drafting does not pay.
    open_live(page, f"{space[0]}#max_new_tokens=64&budget=5")
    expect(page.locator(".dv-share-message")).to_contain_text("Prompt and settings loaded")
    page.locator("#generate").click()
    is_at(page.locator(".dv"), method="duodecoding", state="done")
    assert page.locator(".dv-token").count() == 64
    for lane in ("target", "draft"):
        assert page.locator(f"rect.dv-bar[data-lane={lane}]").count() > 3
    assert page.locator('[data-number="tps"]').inner_text().strip()
    read = page.evaluate(READ_ITERATIONS)
    statuses = {node["status"] for iteration in read for node in iteration["nodes"]}
    assert {"accepted", "rejected", "discarded", "correction"} <= statuses
    for name in ("k", "gamma", "theta"):
        assert len({iteration["numbers"][name] for iteration in read}) > 1, name
