from pytest import approx

from duoviz.models.progress import Course


def test_a_part_begins_where_the_last_that_did_anything_ended():
    told = []
    course = Course(lambda fraction, text: told.append((fraction, text)))
    course.until(0.5)
    course.until(0.8)(0.5, "fetched")
    course.until(1.0)(0.5, "read")
    assert told == [(0.4, "fetched"), (approx(0.7), "read")]
