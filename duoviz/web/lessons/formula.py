"""A formula in plain characters, typeset."""

import re
from html import escape

RAISED = str.maketrans("ᵞᴸ⁺⁻⁰¹²³", "γL+−0123")
# A number, a sign or letter, and what is raised after it.
TERM = re.compile(rf"(\d+|\S)([{''.join(map(chr, RAISED))}]*)")


def formula_html(text: str) -> str:
    """As in `(1 + α²) / (1 − α) = x`, as MathML; a slash between two spaces is a fraction's bar."""
    sides = "<mo>=</mo>".join(map(fraction, text.split(" = ")))
    # Parts of a fraction are as large as the text around it.
    return f'<math displaystyle="true">{sides}</math>'


def fraction(text: str) -> str:
    """What may be one fraction, whose parts need no parentheses around them."""
    above, bar, below = text.partition(" / ")
    parts = (row(part.removeprefix("(").removesuffix(")")) for part in (above, below))
    return f"<mfrac>{''.join(parts)}</mfrac>" if bar else row(text)


def row(text: str) -> str:
    return f"<mrow>{''.join(term(*found) for found in TERM.findall(text))}</mrow>"


def term(base: str, raised: str) -> str:
    kind = "mi" if base.isalpha() else "mn" if base.isdigit() else "mo"
    # As high as the letters beside it.
    html = f"<{kind}{' stretchy=false' if base in '()' else ''}>{escape(base)}</{kind}>"
    return f"<msup>{html}{row(raised.translate(RAISED))}</msup>" if raised else html
