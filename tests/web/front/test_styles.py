"""What the styles and scripts of the page follow of the window."""

import re

from duoviz.web.front import SOURCES

# A height of the window, or of what the browser takes for it.
WINDOW = re.compile(r"\b\d+(?:\.\d+)?[dsl]?v(?:h|b|min|max)\b|\b(?:innerHeight|screen\.height|visualViewport)\b")
MEDIA = re.compile(r"@media[^{]*height[^{]*\{.*")
# Larger letters, which a page in a frame has not.
LARGER = re.compile(
    r"@media \(min-width: \d+px\) and \(min-height: \d+px\) \{ "
    r"(?:\.dl \{ )?--(?:dl-)?zoom: [\d.]+;(?: --note: \d+px;)? \}"
)
SIDEWAYS = "@media (max-width: 900px) and (max-height: 500px) {"
SHIPPED = [
    file
    for kind in ("*.css", "*.js", "*.py")
    for file in (SOURCES.parents[1]).rglob(kind)
    if not {"node_modules", "static"} & set(file.parts) and not file.name.endswith(".test.js")
]


def found(pattern):
    return [(file.name, text) for file in SHIPPED for text in pattern.findall(file.read_text(encoding="utf-8"))]


def test_no_height_follows_the_windows_but_through_the_one_property():
    """A parent may make a frame as high as the page in it: what followed that height would grow without end."""
    assert sorted(found(WINDOW)) == [
        # What the property is made of, but in a frame.
        ("app.py", "innerHeight"),
        ("frame.css", "100vh"),
        # Whether a player is in sight, and on which side of a word its meaning is shown.
        ("keys.js", "innerHeight"),
        ("meanings.js", "innerHeight"),
    ]
    media = found(MEDIA)
    # A phone held sideways, and no frame.
    assert [(name, text) for name, text in media if not LARGER.match(text)] == [("story.css", SIDEWAYS)]
    story = (SOURCES / "styles" / "story.css").read_text(encoding="utf-8").partition(SIDEWAYS)[2]
    assert all(line.strip().startswith(":root:not([data-framed]) &") for line in story.splitlines()[1:-1])


def test_underlines_are_told_in_longhands():
    """Of a shorthand with a thickness or a style WebKit understands nothing."""
    lines = [text for name, text in found(re.compile(r"text-decoration: ([^;]+);")) if name.endswith(".css")]
    assert set(lines) <= {"underline", "none"}
