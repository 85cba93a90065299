"""Space entry point."""

if __name__ == "__main__":
    # The processes of places and drafts import this file anew; they need none of the page.
    import sys

    from duoviz.decoding.settings import SettingsError
    from duoviz.web.start import serve

    try:
        serve()
    except SettingsError as error:
        sys.exit(f"duoviz: {error}")
