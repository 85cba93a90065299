"""The lessons of the Learn tab: Markdown files, read against recorded runs into plain data."""
