"""Item 5: files that nobody asked for."""

from tests.benchmarks.attacks.register import Result, attack
from tests.benchmarks.attacks.site import Site

HEAD = b'--b\r\nContent-Disposition: form-data; name="files"; filename="x.html"\r\n\r\n'


@attack("5 uploads", "nothing larger than 100 MB is taken, and nothing from another site")
def on_ones_own_machine(site: Site) -> Result:
    large = send(site, 200_000_000)
    foreign = send(site, 1000, Origin="http://elsewhere.example")
    own = send(site, 1000)
    told = f"200 MB: {large}; from another site: {foreign}; a small one: {own}; {kept(site) / 1e6:.0f} MB kept"
    return Result("200 MB, and a file for another site's page", told, (large, foreign, own) == (413, 403, 200))


@attack("5 uploads", "nothing is taken", kind="space")
def on_a_space(site: Site) -> Result:
    statuses = {size: send(site, size) for size in (10, 200_000_000)}
    told = f"answers: {statuses}; {kept(site) / 1e6:.1f} MB kept"
    return Result("10 bytes and 200 MB", told, set(statuses.values()) == {403} and kept(site) < 1e6)


def send(site: Site, size: int, **headers: str) -> int | str:
    """The status of an upload; what broke off where the server did not want to read on."""
    body = HEAD + b"x" * size + b"\r\n--b--\r\n"
    try:
        return site.ask(
            "POST", "/gradio_api/upload", body, **{"Content-Type": "multipart/form-data; boundary=b"}, **headers
        )[0]
    except OSError as error:
        return type(error).__name__


def kept(site: Site) -> int:
    """Bytes in the server's temporary folder."""
    return sum(file.stat().st_size for file in site.scratch.rglob("*") if file.is_file())
