"""The Live tab of a Space in a real browser, on the embedded pair."""

from playwright.sync_api import expect

from duoviz.decoding import METHODS
from tests.e2e.pages import READ_ITERATIONS, open_live, open_settings, set_tokens, type_number, wait_for_iterations
from tests.web.served import client_of


def test_generate_shows_text_branches_lanes_k_and_theta(page, space):
    # Of a budget that is set: with an automatic one the draft rests where drafting does not pay.
    open_live(page, f"{space[0]}#max_new_tokens=64&budget=5")
    expect(page.locator(".dv-share-message")).to_contain_text("Prompt and settings loaded")
    page.locator("#generate").click()
    wait_for_iterations(page, 3)
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    assert page.locator(".dv-token").count() == 64
    for lane in ("target", "draft"):
        assert page.locator(f"rect.dv-bar[data-lane={lane}]").count() > 3
    assert page.locator('[data-number="tps"]').inner_text().strip()
    read = page.evaluate(READ_ITERATIONS)
    statuses = {node["status"] for iteration in read for node in iteration["nodes"]}
    assert {"accepted", "rejected", "discarded", "correction"} <= statuses
    for name in ("k", "gamma", "theta"):
        assert len({iteration["numbers"][name] for iteration in read}) > 1, name


def text_of(page):
    expect(page.locator(".dv")).to_have_attribute("data-state", "done")
    return "".join(page.locator(".dv-token").evaluate_all("tokens => tokens.map(token => token.textContent)"))


def test_what_is_set_reaches_the_run_and_each_method_comes_with_its_settings_and_writes_vanillas_text(page, space):
    url, _ = space
    open_live(page, url)
    set_tokens(page, 16)
    for field, value in (("temperature", "1.5"), ("top-k", "90"), ("top-p", "0.95"), ("seed", "11")):
        type_number(page, field, value)
    page.locator("#generate").click()
    shown = text_of(page)
    prompt, client = page.locator("#prompt textarea").input_value(), client_of(url)
    sampled = {"temperature": 1.5, "top_k": 90, "top_p": 0.95, "seed": 11}
    texts = [
        client.predict(prompt=prompt, max_new_tokens=16, api_name="/generate", **chosen)["text"]
        for chosen in (sampled, {})
    ]
    assert shown == texts[0] != texts[1]
    # A link sets all else as the page opens.
    prompt = "Repeat after me, word for word: one two three four one two three four one two"
    page.evaluate("prompt => { location.hash = new URLSearchParams({ prompt, max_new_tokens: 24 }); }", prompt)
    expect(page.locator(".dv-share-message")).to_contain_text("Prompt and settings loaded")
    expected = client.predict(prompt=prompt, method="vanilla", max_new_tokens=24, api_name="/generate")["text"]
    fields = {"prompt_lookup": "lookup-ngram", "rest": "rest-shortest", "lookahead": "lookahead-window"}
    for method, field in fields.items():
        page.locator("#method").get_by_text(METHODS[method].title, exact=True).click()
        open_settings(page)
        expect(page.locator(f"#{field}")).to_be_visible()
        for other in set(fields.values()) - {field}:
            expect(page.locator(f"#{other}")).to_be_hidden()
        page.locator("#generate").click()
        expect(page.locator(".dv")).to_have_attribute("data-method", method)
        assert text_of(page) == expected
