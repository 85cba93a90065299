"""Gradio's client of a page, as patient as the tests are."""

from gradio_client import Client


def client_of(url: str) -> Client:
    """A client that waits for each answer for as long as it takes: the machine may be busy."""
    return Client(url, verbose=False, httpx_kwargs={"timeout": None})
