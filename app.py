"""Space entry point."""

if __name__ == "__main__":
    # The workers' processes import this file anew; they need none of the page.
    import sys

    from duoviz.__main__ import main

    sys.argv[1:] = ["serve"]
    sys.exit(main())
