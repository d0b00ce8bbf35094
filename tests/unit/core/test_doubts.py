from pytest_memfail.core import Doubt, added_up, lagging, late_listing, varying


def doubt(affected, of, limit=0.1, kind="refusals", text="some writes were refused"):
    return Doubt(kind, text, affected, of, "write", limit)


def test_a_doubt_is_fatal_above_its_limit_only():
    assert [doubt(n, 20).is_fatal for n in (0, 2, 3)] == [False, False, True]
    assert [doubt(n, 20, limit=0.0).is_fatal for n in (0, 1)] == [False, True]
    assert not doubt(20, 20, limit=None).is_fatal


def test_a_line_names_the_share():
    assert doubt(1, 1).line == "some writes were refused (1 of 1 write, at most 10% are trusted)"
    assert doubt(3, 20).line == "some writes were refused (3 of 20 writes, at most 10% are trusted)"


def test_the_share_is_that_of_all_stores_and_the_text_of_one_that_is_affected():
    calm, hit, other = doubt(0, 60, text="none"), doubt(5, 20, text="first"), doubt(1, 1, kind="lag")
    assert added_up([calm, hit, other, doubt(1, 20, text="second")]) == (doubt(6, 100, text="first"), other)


def test_a_lag_is_fatal_but_where_a_search_was_seen_to_vary():
    late, calm = lagging([0.2], 2, settles=False), doubt(0, 60)
    assert late.line.startswith("the search lags by at least 0.2 s behind the listing: set settle")
    assert [one.is_fatal for one in added_up([late, calm])] == [True, False]
    (one,) = added_up([late, varying(9, 1, 2), lagging([1, 3], 2, settles=True)])
    assert not one.is_fatal
    assert one.line.startswith("the same search returns different entries: ")
    assert (one.affected, one.of) == (1 + 2 + 2, 2 + 10 + 2)
    assert added_up([one]) == (one,)


def test_a_tenth_of_the_entries_may_be_listed_late():
    assert [late_listing(n, 100 - n).is_fatal for n in (0, 10, 11)] == [False, False, True]
    assert late_listing(11, 89).line.endswith(" in its YAML file (11 of 100 entries, at most 10% are trusted)")


def test_the_questions_whose_repeats_were_different():
    assert varying(1, 2, 4).line.endswith(" (2 of 4 repeated questions)")
    assert varying(5, 2, 4).line.endswith(" (3 of 7 repeated questions)")
