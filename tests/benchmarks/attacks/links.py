"""Item 8: links that would start a run which reaches elsewhere."""

from playwright.sync_api import expect, sync_playwright

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site
from tests.e2e.conftest import launch_chromium

LINKS = (
    "#autoplay=1&pair=them/big+%2B+them/small",
    "#autoplay=1&pair=qwen2.5-7b",
    "#autoplay=1&method=rest&rest_datastore=/etc",
    "#autoplay=1&tab=compare&second_method=rest&second_rest_datastore=/etc",
)


@attack("8 links", "the fields are filled, and nothing starts")
def autoplay(site: Site) -> Result:
    """A visitor follows each link, and then one that may start by itself."""
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        waited = 0
        for link in LINKS:
            page = browser.new_page()
            posts = []
            page.on(
                "request", lambda request, posts=posts: posts.append(request.url) if "queue/join" in request.url else 0
            )
            page.goto(site.url + link)
            expect(page.locator(".dv-share-message")).to_contain_text(
                "nothing runs before you start it", timeout=60_000
            )
            page.wait_for_timeout(1500)
            waited += not posts
            page.close()
        page = browser.new_page()
        page.goto(f"{site.url}#autoplay=1&method=vanilla&max_new_tokens=2")
        expect(page.locator("#visualizer .dv")).to_have_attribute("data-state", "done", timeout=60_000)
        browser.close()
    return Result(f"{len(LINKS)} such links", f"{waited} waited; a plain one ran", waited == len(LINKS))
