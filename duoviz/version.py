"""The project's version."""

VERSION = "1.0.0"
