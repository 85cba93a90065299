"""Values as CSV."""

import csv
import io

import pytest

from duoviz.lab.answers import Value
from duoviz.lab.report import table_csv
from duoviz.lab.tables import Table
from duoviz.trace.exports import csv_text


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_text_is_a_formula(sign):
    text = f"{sign}HYPERLINK(1)"
    table = Table("t", "t", text, [text], [(text, [text])])
    for content in (csv_text([[text, f"a{text}", f"a\r{text}"]]), table_csv(table)):
        cells = [cell for line in csv.reader(io.StringIO(content, newline="")) for cell in line]
        assert f"'{text}" in cells and not any(cell.startswith(sign) for cell in cells)


def test_numbers_stay_numbers_and_none_is_empty():
    assert csv_text([[-1, -0.5, None, "a,b"], ["é", 1e-12]]) == '-1,-0.5,,"a,b"\r\né,1e-12\r\n'
    line = table_csv(Table("t", "t", "", ["c"], [("l", [Value(-0.25, None, 3)])])).splitlines()[1]
    assert line == "l,c,-0.25,,,3"
