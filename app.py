"""Space entry point."""

if __name__ == "__main__":
    # The processes of places and drafts import this file anew; they need none of the page.
    import signal
    import sys

    from duoviz.signals import on_ending

    # Until it has begun anything, a signal just ends it.
    on_ending(signal.SIG_DFL)
    from duoviz.decoding.settings import SettingsError
    from duoviz.web.start import serve

    try:
        serve()
    except SettingsError as error:
        sys.exit(f"duoviz: {error}")
