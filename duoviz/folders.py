"""Where the project's data lies: beside the package in a checkout, inside it where it was installed."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ASSETS = next(folder for folder in (PACKAGE / "assets", PACKAGE.parent / "assets") if folder.is_dir())
DRAFT_FOLDER = ASSETS / "draft"
