"""Space entry point."""

if __name__ == "__main__":
    # The workers' processes import this file anew; they need none of the page.
    import signal
    import sys

    from duoviz.processes import on_ending

    # Until it has begun anything, a signal just ends it.
    on_ending(signal.SIG_DFL)
    from duoviz.errors import UserError
    from duoviz.web.start import serve

    try:
        serve()
    except UserError as error:
        sys.exit(f"duoviz: {error}")
