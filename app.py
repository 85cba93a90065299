"""Space entry point."""

if __name__ == "__main__":
    # The draft's process imports this file anew; it needs none of the page.
    from duoviz.web.start import serve

    serve()
